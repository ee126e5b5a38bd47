"""Consumers of the changes that accounts emits.

All but those of mails are inline: the actor sees the effect.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TypeVar

from django.conf import settings

from accounts.actions.create_rows import create_account_rows
from accounts.actions.rename import copy_usernames
from accounts.actions.restrict import restrict_accounts
from accounts.cache import (
    drop_token_command,
    end_token_commands,
    refresh_actors,
    refresh_profiles,
)
from accounts.changes import (
    AccountRestricted,
    EmailChangeAsked,
    EmailChanged,
    PasswordResetAsked,
    ProfileChanged,
    TokenRevoked,
    UserCreated,
    UserRenamed,
    UserRestricted,
)
from accounts.images.actions.place_files import list_files_left
from accounts.mails import send_address_changed_mail, send_address_mail, send_reset_mail
from accounts.models import User
from accounts.queries.tokens import load_tokens_by_user
from accounts.queries.users import load_restrictions
from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, FollowUp, Payload, consumes
from infra.sharding.buckets import group_by_shard

P = TypeVar("P", bound=Payload)
DAY_S = 86_400


@consumes(UserCreated, inline=True)
def create_accounts(alias: str, deliveries: Sequence[Delivery[UserCreated]]) -> None:
    """Creates the account row of each new user on its shard, with the user's restrictions.

    The restrictions: moderators may have restricted the user before the row existed.
    Safety: idempotent. Cost: one statement per shard, one query, one refresh of profiles.
    """
    failpoint("accounts.before_creating")
    created = {delivery.owner_id: delivery.payload for delivery in deliveries}
    for shard, account_ids in group_by_shard(created).items():
        create_account_rows(shard, {i: created[i] for i in account_ids})
    _restrict(created)
    # A read before the row existed has cached "no such account".
    refresh_profiles(created)


@consumes(UserRenamed, inline=True)
def copy_new_names(alias: str, deliveries: Sequence[Delivery[UserRenamed]]) -> None:
    """Writes the names of renamed users to their account rows. Cost: as `copy_usernames`."""
    copy_usernames(dict.fromkeys(delivery.owner_id for delivery in deliveries))


@consumes(UserRestricted, inline=True)
def enforce_restrictions(alias: str, deliveries: Sequence[Delivery[UserRestricted]]) -> None:
    """Writes the restrictions of users to their account rows. One query; two statements a shard."""
    deleted = {delivery.owner_id for delivery in deliveries if delivery.payload.is_deleted}
    _restrict((delivery.owner_id for delivery in deliveries), deleted)


def _restrict(account_ids: Iterable[int], deleted: Collection[int] = ()) -> None:
    states = load_restrictions(account_ids)
    for shard, ids in group_by_shard(states).items():
        restrict_accounts(shard, {account_id: states[account_id] for account_id in ids}, deleted)


@consumes(UserRestricted, inline=True)
def drop_restricted_tokens(alias: str, deliveries: Sequence[Delivery[UserRestricted]]) -> None:
    """Drops the cached tokens of restricted users.

    A cached token says whether its user is frozen or suspended. Cost: one query, one round trip.
    """
    checksums = load_tokens_by_user([delivery.owner_id for delivery in deliveries])
    redis().run([drop_token_command(checksum) for checksum in checksums])


@consumes(UserRestricted, inline=True)
def refresh_restricted_actors(alias: str, deliveries: Sequence[Delivery[UserRestricted]]) -> None:
    """Updates what decides whether services may act for these accounts."""
    refresh_actors(delivery.owner_id for delivery in deliveries)


@consumes(ProfileChanged, AccountRestricted, inline=True)
def refresh_changed_profiles(
    alias: str, deliveries: Sequence[Delivery[ProfileChanged | AccountRestricted]]
) -> None:
    """Updates cached profiles."""
    failpoint("accounts.before_profiles")
    refresh_profiles(dict.fromkeys(delivery.owner_id for delivery in deliveries))


@consumes(ProfileChanged, AccountRestricted)
def place_images_of_changed(
    alias: str, deliveries: Sequence[Delivery[ProfileChanged | AccountRestricted]]
) -> list[FollowUp]:
    """Lets the files of replaced pictures go, and those of suspended accounts move. One query."""
    return list_files_left(alias, [delivery.owner_id for delivery in deliveries])


@consumes(TokenRevoked, inline=True)
def write_token_tombstones(alias: str, deliveries: Sequence[Delivery[TokenRevoked]]) -> None:
    """Replaces cached tokens by tombstones. Raises RedisError, so that the consumer runs again."""
    ended = (end_token_commands(delivery.payload.checksum) for delivery in deliveries)
    redis().run(list(chain.from_iterable(ended)))


@consumes(PasswordResetAsked)
def send_reset_mails(alias: str, deliveries: Sequence[Delivery[PasswordResetAsked]]) -> None:
    """Sends each user one mail with a link to choose a new password.

    Not inline: the time of the answer would tell whether there is such a user. A request that is
    older than its link would live is dropped, so a replay sends no old mail. Safety: a second run
    sends a second mail, whose link is as good as the first. Raises: OSError, SMTPException.
    """
    recent = {
        delivery.owner_id for delivery in _newer_than(settings.PASSWORD_RESET_TIMEOUT, deliveries)
    }
    for user in User.objects.filter(pk__in=recent, is_active=True).exclude(email=""):
        send_reset_mail(user)


@consumes(EmailChangeAsked)
def send_address_mails(alias: str, deliveries: Sequence[Delivery[EmailChangeAsked]]) -> None:
    """Sends a link to each new address that no account has. All else as `send_reset_mails`.

    Cost: one query, and one for each address.
    """
    recent = _newer_than(settings.PASSWORD_RESET_TIMEOUT, deliveries)
    wanted = dict.fromkeys((delivery.owner_id, delivery.payload.email) for delivery in recent)
    users = User.objects.filter(is_active=True).in_bulk({user_id for user_id, _ in wanted})
    for user_id, email in wanted:
        if user_id in users and not _has_user(email):
            send_address_mail(users[user_id], email)


@consumes(EmailChanged)
def send_address_changed_mails(alias: str, deliveries: Sequence[Delivery[EmailChanged]]) -> None:
    """Sends a mail to the address that each user had.

    It is a warning, so it is sent for a day, also when the mail server was away for hours.
    Safety: a second run sends a second mail. Raises: OSError, SMTPException.
    """
    recent = [delivery for delivery in _newer_than(DAY_S, deliveries) if delivery.payload.before]
    users = User.objects.in_bulk({delivery.owner_id for delivery in recent})
    for delivery in recent:
        if delivery.owner_id in users:
            send_address_changed_mail(users[delivery.owner_id], delivery.payload.before)


def _newer_than(age_s: int, deliveries: Sequence[Delivery[P]]) -> list[Delivery[P]]:
    oldest = datetime.now(UTC) - timedelta(seconds=age_s)
    return [delivery for delivery in deliveries if delivery.created_at >= oldest]


def _has_user(email: str) -> bool:
    try:
        User.objects.get_by_natural_key(email)
    except User.DoesNotExist:
        return False
    return True
