"""The cached edge lists: written from the rows, and read whole from Redis."""

from typing import NamedTuple

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.lists import ListCache, LoadedList
from infra.caching.lists import write_lists as write_loaded_lists
from infra.caching.questions import answer_by_redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.cache import (
    FOLLOWERS,
    FOLLOWING,
    OPEN_FOLLOWS,
    QUIET,
    QUIET_FOLLOWS,
    account_id_of_member,
    to_item,
)
from relations.types import FOLLOWS, Attribute, ListedAccount


class CachedListSource(NamedTuple):
    """A cache, the rows of its members, and the count that gives its version."""

    cache: ListCache
    table: str
    owner: str
    other: str
    attributes: frozenset[Attribute]
    version_of: CounterKind


FORWARD = ("relations_forwardedge", "follower_id", "followee_id")
BACKWARD = ("relations_backwardedge", "followee_id", "follower_id")
LISTS = (
    CachedListSource(FOLLOWING, *FORWARD, FOLLOWS, CounterKind.FOLLOWING),
    CachedListSource(QUIET, *FORWARD, QUIET_FOLLOWS, CounterKind.FOLLOWING),
    CachedListSource(FOLLOWERS, *BACKWARD, OPEN_FOLLOWS, CounterKind.FOLLOWERS),
)


def members_of(kept: CachedListSource, owner: int) -> list[int]:
    """The expected members, from the owner's shard, newest first."""
    return [listed.account_id for listed in _read(kept, owner)]


def cached_members(kept: CachedListSource, owner: int) -> list[int] | None:
    """The cached members, newest first. None: nothing is cached."""
    found = answer_by_redis(kept.cache.ask_all(owner))
    return [account_id_of_member(item.member) for item in found.items] if found else None


def write_lists(owner: int) -> None:
    """Writes all lists of an account as a read does after a miss: the version first."""
    for kept in LISTS:
        counts = read_counts(shard_of(owner), [owner], [kept.version_of])
        version = counts[owner][kept.version_of].version
        items = [to_item(listed) for listed in _read(kept, owner)]
        write_list(LoadedList(kept.cache, version, items, True), owner)


def write_list(loaded: LoadedList, owner: int) -> None:
    """Writes one list, as a load without any event between."""
    assert write_loaded_lists(owner, loaded.cache.begin_load(owner), [loaded])


def assert_cached_lists_agree(owners: list[int]) -> None:
    """Cached lists equal the rows; a list may be missing from the cache."""
    for owner in owners:
        for kept in LISTS:
            cached = cached_members(kept, owner)
            assert cached in (None, members_of(kept, owner)), (kept.cache.family, owner)


def _read(kept: CachedListSource, owner: int) -> list[ListedAccount]:
    rows = fetch_all(
        shard_of(owner),
        f"SELECT since_ms, {kept.other} FROM {kept.table}"
        f" WHERE {kept.owner} = %s AND attribute = ANY(%s::smallint[])",
        (owner, [int(attribute) for attribute in kept.attributes]),
    )
    return sorted((ListedAccount(*row) for row in rows), reverse=True)
