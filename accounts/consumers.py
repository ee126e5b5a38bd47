"""What accounts does with its own changes. All of it serves the actor at once, too."""

from collections.abc import Iterable, Mapping, Sequence

from accounts.actions.restrict_account import restrict_account
from accounts.cache import TOKENS, end_token_command, refresh_profiles, write_token_command
from accounts.changes import (
    AccountRestricted,
    ProfileChanged,
    TokenRevoked,
    UserCreated,
    UserRestricted,
)
from accounts.hot_profiles import new_validator_command
from accounts.queries.restrictions import load_restrictions
from accounts.queries.tokens import load_tokens_by_user
from infra.caching.client import Command, redis
from infra.caching.invalidation import forget_in_process, invalidation_command
from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from infra.sharding.buckets import group_by_shard
from infra.sharding.sql import execute

CREATE = """
INSERT INTO accounts_account (id, username, display_name, created_at)
SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[])
ON CONFLICT (id) DO NOTHING
"""


@consumes(UserCreated, inline=True)
def create_accounts(alias: str, deliveries: Sequence[Delivery[UserCreated]]) -> None:
    """Lays each new user's account row on its shard. One statement per shard; idempotent.

    Whom somebody restricted before there was a row is restricted now: that news found nothing.
    """
    failpoint("accounts.before_creating")
    created = {delivery.owner_id: delivery.payload for delivery in deliveries}
    for shard, account_ids in group_by_shard(created).items():
        _lay(shard, {account_id: created[account_id] for account_id in account_ids})
    _restrict(created)
    # Somebody may have asked before there was a row: that answer is cached as "no such account".
    refresh_profiles(created)


def _lay(shard: str, created: Mapping[int, UserCreated]) -> None:
    users = list(created.values())
    names = [user.username for user in users]
    display_names = [user.display_name for user in users]
    execute(
        shard, CREATE, (list(created), names, display_names, [user.created_at for user in users])
    )


@consumes(UserRestricted, inline=True)
def enforce_restrictions(alias: str, deliveries: Sequence[Delivery[UserRestricted]]) -> None:
    """Brings accounts up to what their users are restricted to now. Two statements each."""
    _restrict(delivery.owner_id for delivery in deliveries)


def _restrict(account_ids: Iterable[int]) -> None:
    for account_id, restricted in load_restrictions(account_ids).items():
        restrict_account(account_id, restricted)


@consumes(UserRestricted, inline=True)
def refresh_tokens(alias: str, deliveries: Sequence[Delivery[UserRestricted]]) -> None:
    """Cached tokens know whether their user is frozen or suspended. One query, one round trip."""
    facts = load_tokens_by_user([delivery.owner_id for delivery in deliveries])
    _tell_tokens({checksum: write_token_command(checksum, one) for checksum, one in facts.items()})


@consumes(ProfileChanged, AccountRestricted, inline=True)
def refresh_changed_profiles(
    alias: str, deliveries: Sequence[Delivery[ProfileChanged | AccountRestricted]]
) -> None:
    """Brings cached profiles up to their rows; of who is restricted all processes drop copies."""
    failpoint("accounts.before_profiles")
    refresh_profiles(delivery.owner_id for delivery in deliveries)
    if any(isinstance(delivery.payload, AccountRestricted) for delivery in deliveries):
        # In a round trip of its own: whoever reads the new stamp must find the profile changed.
        redis().call(*new_validator_command())


@consumes(TokenRevoked, inline=True)
def write_token_tombstones(alias: str, deliveries: Sequence[Delivery[TokenRevoked]]) -> None:
    """Lays tombstones over cached tokens. Raises RedisError until they are laid."""
    checksums = [delivery.payload.checksum for delivery in deliveries]
    _tell_tokens({checksum: end_token_command(checksum) for checksum in checksums})


def _tell_tokens(commands: Mapping[str, Command]) -> None:
    checksums = list(commands)
    if not checksums:
        return
    try:
        redis().run([*commands.values(), invalidation_command(TOKENS, checksums)])
    finally:  # without an answer it may have been done all the same
        forget_in_process(TOKENS, checksums)
