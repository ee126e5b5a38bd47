"""Reads profiles from their shards."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from accounts.types import Profile, Restriction
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all

READ = """
SELECT id, username, display_name, note, is_bot, created_at, version, restrictions
FROM accounts_account WHERE id = ANY(%s::bigint[])
"""


def read_profiles(alias: str, account_ids: Sequence[int]) -> list[Profile]:
    """Profiles of accounts of one shard, in any order; unknown ones are missing. One query."""
    rows = fetch_all(alias, READ, (list(account_ids),))
    found = [Profile(*row) for row in rows]
    return [one._replace(restrictions=Restriction(one.restrictions)) for one in found]


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
