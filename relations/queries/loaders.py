"""Lists read from their shards and laid in Redis.

Versions are read before the rows: a list may be newer than it says, never older.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from redis.exceptions import RedisError

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from counters.types import Count
from infra.caching.client import Command, redis
from infra.caching.list_pages import ListContinuation
from infra.caching.lists import ListCache
from infra.sharding.buckets import shard_of
from relations.cache import FOLLOWING, QUIET, to_item
from relations.queries.cached_edge_list import CachedEdgeList
from relations.queries.deep import admit_deep_page
from relations.queries.edge_rows import BACKWARD_OPEN, read_follows, read_newest
from relations.types import Attribute, ListedAccount

FIRST_FOLLOWERS = 5 * 20  # the pages that more than 99 % of readers ask for (seed S0)


class LoadedFollowing(NamedTuple):
    """All an account follows, newest first, and which of them quietly."""

    version: int
    follows: list[ListedAccount]
    quiet: frozenset[ListedAccount]

    def open(self) -> CachedEdgeList:
        """What others see."""
        return self._held([listed for listed in self.follows if listed not in self.quiet])

    def all(self) -> CachedEdgeList:
        """What the owner sees."""
        return self._held(self.follows)

    def _held(self, items: list[ListedAccount]) -> CachedEdgeList:
        return CachedEdgeList(self.version, items, ListContinuation.END, len(items))


def load_following_lists(owner_id: int) -> LoadedFollowing:
    """Both lists of an account's follows, at one version. Cost: two queries, one round trip."""
    kind = CounterKind.FOLLOWING
    version = read_counts(shard_of(owner_id), [owner_id], [kind])[owner_id][kind].version
    follows = read_follows(owner_id)
    quiet = frozenset(listed for listed, how in follows.items() if how is Attribute.WHISPER)
    _put(
        _write_command(FOLLOWING, owner_id, version, follows),
        _write_command(QUIET, owner_id, version, quiet),
    )
    return LoadedFollowing(version, list(follows), quiet)


def load_followers_list(owner_id: int, cache: ListCache, is_deep: bool) -> CachedEdgeList:
    """The newest open followers, as many as Redis keeps.

    Of accounts with more than that, only the pages that everybody reads, until somebody asks for
    deeper ones. Raises: TooManyDeepPages for those. Cost: two queries, one round trip.
    """
    counts = read_counts(shard_of(owner_id), [owner_id], [CounterKind.FOLLOWERS, _QUIET])[owner_id]
    followers = counts[CounterKind.FOLLOWERS]
    most = cache.max_items
    if followers.value - counts[_QUIET].value > most:
        if is_deep:
            admit_deep_page()
        else:
            most = min(most, count_first_followers(followers))
    found = read_newest(BACKWARD_OPEN, owner_id, None, None, most + 1)
    rest = ListContinuation.END if len(found) <= most else ListContinuation.SOURCE_ONLY
    held = CachedEdgeList(followers.version, found[:most], rest, min(len(found), most))
    _put(_write_command(cache, owner_id, held.version, held.items, rest is ListContinuation.END))
    return held


_QUIET = CounterKind.QUIET_FOLLOWERS


def count_first_followers(followers: Count) -> int:
    """FIRST_FOLLOWERS, and a reserve for those who leave: by the account's own ratio of follows
    begun to follows that last (seed S0).

    Every begin and every end is a move, and a move a version; moves that were folded into one
    make it an estimate from below.
    """
    begun = max(followers.value, (followers.version + followers.value) // 2)
    return -(-FIRST_FOLLOWERS * begun // followers.value)


def _write_command(
    cache: ListCache,
    owner_id: int,
    version: int,
    listed: Iterable[ListedAccount],
    is_whole: bool = True,
) -> Command:
    return cache.write_command(owner_id, version, [to_item(item) for item in listed], is_whole)


def _put(*commands: Command) -> None:
    with suppress(RedisError):  # the next reader tries again
        redis().run(commands)
