"""Reads profiles from their shards, and from the default database which accounts services may act
for.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from accounts.errors import AccountNotFound
from accounts.types import (
    Preferences,
    Profile,
    ProfileField,
    ProfileSource,
    Restriction,
    ServiceObject,
)
from counters.kinds import CounterKind
from counters.sql import select_counts
from counters.types import ACCOUNT
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all, fetch_one

READ = """
SELECT restrictions, fields::text, service_object::text,
    id, username, display_name, note, is_bot, created_at, version, is_locked, is_discoverable,
    is_indexable, hides_collections, avatar, header
FROM accounts_account WHERE id = ANY(%s::bigint[])
"""
REQUESTS = select_counts("account.id", str(ACCOUNT), f"kind = {CounterKind.FOLLOW_REQUESTS:d}")
PREFERENCES = (
    "default_privacy, default_sensitive, default_language, default_quote_policy, home_replies"
)
READ_PREFERENCES = f"SELECT {PREFERENCES} FROM accounts_account WHERE id = %s"  # noqa: S608
READ_SOURCE = f"""
SELECT note, fields::text, coalesce((SELECT value FROM ({REQUESTS}) AS requests), 0), {PREFERENCES}
FROM accounts_account AS account WHERE id = %s
"""  # noqa: S608
_fields = msgspec.json.Decoder(list[ProfileField])
_object = msgspec.json.Decoder(ServiceObject)


def read_profiles(alias: str, account_ids: Sequence[int]) -> list[Profile]:
    """Profiles of accounts of one shard, in any order; unknown ones are missing. One query."""
    return [_profile_of(*row) for row in fetch_all(alias, READ, (list(account_ids),))]


def load_profiles(account_ids: Iterable[int]) -> Mapping[int, Profile]:
    """Profiles of any accounts from their shards; unknown ones are missing. One query per shard."""
    calls = {
        alias: partial(read_profiles, alias, ids)
        for alias, ids in group_by_shard(account_ids).items()
    }
    return {profile.id: profile for rows in scatter(calls).values() for profile in rows}


def find_profile(account_id: int) -> Profile | None:
    """One profile from its shard, never from a cache. One query."""
    return next(iter(read_profiles(shard_of(account_id), [account_id])), None)


def get_source(account_id: int) -> ProfileSource:
    """What only the owner of a profile sees. One query. Raises AccountNotFound."""
    row = fetch_one(shard_of(account_id), READ_SOURCE, (account_id,))
    if row is None:
        raise AccountNotFound
    note, fields, requests, *preferences = row
    return ProfileSource(note, _fields.decode(fields), Preferences(*preferences), requests)


def get_preferences(account_id: int) -> Preferences:
    """What the account chose for its posts and for home. One query by key.

    Raises: AccountNotFound.
    """
    row = fetch_one(shard_of(account_id), READ_PREFERENCES, (account_id,))
    if row is None:
        raise AccountNotFound
    return Preferences(*row)


def _profile_of(restrictions: int, fields: str, owned: str | None, *others: Any) -> Profile:
    profile = Profile(*others)
    return profile._replace(
        restrictions=Restriction(restrictions),
        fields=_fields.decode(fields),
        service_object=None if owned is None else _object.decode(owned),
    )


READ_ACTORS = f"""
SELECT id, 0, restriction_revision, is_staff OR is_superuser, NOT is_active,
    restrictions & {Restriction.FROZEN:d} <> 0
FROM accounts_user WHERE id = ANY(%s::bigint[])
"""  # noqa: S608


class ActorFacts(msgspec.Struct, frozen=True, array_like=True):
    """What decides whether a service may act for an account. `revision`: of its restrictions.

    `unused`: processes of the release before read a number in this place.
    """

    unused: int
    revision: int
    is_staff: bool
    is_suspended: bool
    is_frozen: bool


def load_actors(account_ids: Iterable[int]) -> dict[int, ActorFacts]:
    """The facts of those that are users. One query."""
    rows = fetch_all(GLOBAL_ALIAS, READ_ACTORS, (list(account_ids),))
    return {row[0]: ActorFacts(*row[1:]) for row in rows}
