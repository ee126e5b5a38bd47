"""Loaders of edge lists: read a list from its shard and write it to Redis.

The version is read before the rows, so a cached list may be newer than its version, never older.
A load token keeps out a list that was read before a change.
"""

import time
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from counters.types import Count
from infra.caching.lists import ListCache, ListContinuation, LoadedList, write_lists
from infra.caching.load_tokens import LoadTokens
from infra.caching.quotas import QuotaClaim, Quotas
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from relations.cache import FOLLOWERS, FOLLOWING, QUIET, to_item
from relations.errors import TooManyDeepPages
from relations.queries.cached_edge_list import CachedEdgeList
from relations.queries.edge_rows import BACKWARD_OPEN, read_follows, read_newest
from relations.types import Attribute, ListedAccount

FIRST_FOLLOWERS = 5 * 20  # the pages that more than 99 % of readers ask for (seed S0)
QUIET_FOLLOWERS = CounterKind.QUIET_FOLLOWERS
DEEP_PAGE = QuotaClaim("deep-pages", settings.DEEP_PAGES_PER_S)
deep_pages = Quotas(period_s=1)


class LoadedFollowing(NamedTuple):
    """All an account follows, newest first, and its quiet follows among them."""

    version: int
    follows: list[ListedAccount]
    quiet: frozenset[ListedAccount]

    def open(self) -> CachedEdgeList:
        """The list for others: without quiet follows."""
        return self._list([listed for listed in self.follows if listed not in self.quiet])

    def all(self) -> CachedEdgeList:
        """The list for the owner."""
        return self._list(self.follows)

    def _list(self, items: list[ListedAccount]) -> CachedEdgeList:
        return CachedEdgeList(self.version, items, ListContinuation.END, len(items))


def load_following_lists(owner_id: int, tokens: LoadTokens) -> LoadedFollowing:
    """Both lists of an account's follows, at one version. Cost: two queries, one round trip."""
    kind = CounterKind.FOLLOWING
    version = read_counts(shard_of(owner_id), [owner_id], [kind])[owner_id][kind].version
    follows = read_follows(owner_id)
    quiet = frozenset(listed for listed, how in follows.items() if how is Attribute.WHISPER)
    failpoint("relations.list_read")
    lists = [_loaded(FOLLOWING, version, follows), _loaded(QUIET, version, quiet)]
    write_lists(owner_id, tokens, lists)
    return LoadedFollowing(version, list(follows), quiet)


def load_followers_list(
    owner_id: int, tokens: LoadTokens, cache: ListCache = FOLLOWERS, is_deep: bool = False
) -> CachedEdgeList:
    """The newest open followers, as many as Redis keeps.

    Of a longer list, only the first pages are loaded, until a reader asks for deeper ones.
    Raises: TooManyDeepPages for those. Cost: two queries, one round trip.
    """
    kinds = [CounterKind.FOLLOWERS, QUIET_FOLLOWERS]
    counts = read_counts(shard_of(owner_id), [owner_id], kinds)[owner_id]
    followers = counts[CounterKind.FOLLOWERS]
    most = cache.max_items
    if followers.value - counts[QUIET_FOLLOWERS].value > most:
        if is_deep:
            admit_deep_page()
        else:
            most = min(most, count_first_followers(followers))
    newest = read_newest(BACKWARD_OPEN, owner_id, None, None, most + 1)
    is_whole = len(newest) <= most
    continuation = ListContinuation.END if is_whole else ListContinuation.SOURCE_ONLY
    loaded = CachedEdgeList(followers.version, newest[:most], continuation, min(len(newest), most))
    failpoint("relations.list_read")
    write_lists(owner_id, tokens, [_loaded(cache, loaded.version, loaded.items, is_whole)])
    return loaded


def admit_deep_page() -> None:
    """Limits the reads of followers that Redis does not hold, of all processes together (seed S3).

    Raises: TooManyDeepPages. Cost: one round trip.
    """
    now_s = time.time()
    usage = deep_pages.use([DEEP_PAGE], now_s)
    if not usage.is_granted:
        raise TooManyDeepPages(max(1, usage.reset_at - int(now_s)))


def count_first_followers(followers: Count) -> int:
    """How many followers to load for the first pages: FIRST_FOLLOWERS, and a reserve.

    Followers who leave use up the reserve. It is estimated by the account's own ratio of follows
    that began to follows that last (seed S0). Each begin and each end adds 1 to the version, unless
    several moves were folded into one, so the estimate is a lower bound.
    """
    begun = max(followers.value, (followers.version + followers.value) // 2)
    return -(-FIRST_FOLLOWERS * begun // followers.value)


def _loaded(
    cache: ListCache, version: int, listed: Iterable[ListedAccount], is_whole: bool = True
) -> LoadedList:
    return LoadedList(cache, version, [to_item(item) for item in listed], is_whole)
