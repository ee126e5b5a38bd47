"""Parts of edge lists as Redis has them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from infra.caching.decoding import decode
from infra.caching.lists import CachedList, CachedListPage, Item, ListCache, ListContinuation
from infra.caching.load_tokens import LoadTokens
from infra.caching.loading import SharedLoads
from infra.caching.metrics import count_reads
from infra.caching.questions import Question, answer_by_redis
from relations.cache import to_item, to_listed
from relations.types import ListedAccount


class CachedEdgeList(NamedTuple):
    """Part of a list, newest first.

    `continuation`: where the list continues beyond this part, in the direction of the read.
    `size`: how many members are cached in all.
    """

    version: int
    items: list[ListedAccount]
    continuation: ListContinuation
    size: int

    def below(self, bound: ListedAccount | None, limit: int) -> "CachedEdgeList":
        """The newest members older than the bound."""
        items = [item for item in self.items if bound is None or item < bound][:limit]
        continuation = ListContinuation.CACHED if len(items) == limit else self.continuation
        return self._replace(items=items, continuation=continuation)

    def above(self, bound: ListedAccount, limit: int) -> "CachedEdgeList":
        """The oldest members newer than the bound."""
        items = [item for item in self.items if item > bound]
        is_deep = self.continuation is ListContinuation.SOURCE_ONLY and len(items) == len(
            self.items
        )
        continuation = ListContinuation.SOURCE_ONLY if is_deep else ListContinuation.END
        return self._replace(items=items[-limit:], continuation=continuation)


class EdgeListRead(NamedTuple):
    """A read of part of a list. `ask()`: the part; None: it is not cached.

    `cut(whole)`: the same part of a list that was just loaded.
    """

    cache: ListCache
    ask: Callable[[], Question[CachedEdgeList | None]]
    cut: Callable[[CachedEdgeList], CachedEdgeList]

    def find(self) -> CachedEdgeList | None:
        """The part; None: it is not cached. Raises: RedisError. One round trip."""
        return _counted(self.cache, answer_by_redis(self.ask()))


def read_below(
    cache: ListCache,
    owner_id: int,
    bound: ListedAccount | None,
    limit: int,
    without: ListCache | None,
) -> EdgeListRead:
    """The newest members older than the bound."""
    start = to_item(bound) if bound is not None else None
    page = cache.ask_page(owner_id, "below", start, limit, without)
    ask = partial(page.then, partial(_part_of_page, cache.family))
    return EdgeListRead(cache, ask, lambda whole: whole.below(bound, limit))


def read_above(
    cache: ListCache, owner_id: int, bound: ListedAccount, limit: int, without: ListCache | None
) -> EdgeListRead:
    """The oldest members newer than the bound."""
    page = cache.ask_page(owner_id, "above", to_item(bound), limit, without)
    part = page.then(partial(_part_of_page, cache.family))
    return EdgeListRead(
        cache, partial(part.then, _newest_first), lambda whole: whole.above(bound, limit)
    )


def read_whole(cache: ListCache, owner_id: int) -> EdgeListRead:
    """All members of a list that is cached whole."""
    ask = partial(cache.ask_all(owner_id).then, partial(_part_of_all, cache.family))
    return EdgeListRead(cache, ask, lambda whole: whole)


def load_part(
    owner_id: int, read: EdgeListRead, load: Callable[[LoadTokens], CachedEdgeList]
) -> CachedEdgeList:
    """The part, after Redis did not have it: this thread or another one loads the list.

    `load(tokens)`: reads the list from the shard and writes it. Raises what it raises.
    """
    question = read.ask().then(lambda cached: {} if cached is None else {owner_id: cached})
    loads = SharedLoads(
        read.cache.family,
        read.cache.loaded_key,
        lambda _: question,
        lambda _, tokens: {owner_id: read.cut(load(tokens))},
    )
    return loads.load_missing([owner_id])[owner_id]


def _newest_first(cached: CachedEdgeList | None) -> CachedEdgeList | None:
    return cached._replace(items=cached.items[::-1]) if cached else None


def ask_whole(
    cache: ListCache, owner_id: int, without: ListCache
) -> Question[CachedEdgeList | None]:
    """All members but those of `without`; None: the lists are not cached whole."""

    def check(page: CachedListPage | None) -> CachedEdgeList | None:
        cached = _counted(cache, _part_of_page(cache.family, page))
        return cached if cached and cached.continuation is ListContinuation.END else None

    return cache.ask_page(owner_id, "below", None, cache.max_items, without).then(check)


def _counted(cache: ListCache, cached: CachedEdgeList | None) -> CachedEdgeList | None:
    """Counts a hit or a miss."""
    count_reads(cache.family, "redis", hits=cached is not None, misses=cached is None)
    return cached


def _part_of_page(family: str, page: CachedListPage | None) -> CachedEdgeList | None:
    items = decode_members(family, page.items) if page else None
    if page is None or items is None:
        return None
    return CachedEdgeList(page.version, items, page.continuation, page.size)


def _part_of_all(family: str, cached: CachedList | None) -> CachedEdgeList | None:
    items = decode_members(family, cached.items) if cached else None
    if cached is None or items is None:
        return None
    return CachedEdgeList(cached.version, items, ListContinuation.END, len(items))


def decode_members(family: str, items: Sequence[Item]) -> list[ListedAccount] | None:
    """None: one of them is undecodable."""
    return decode(family, lambda raw: list(map(to_listed, raw)), items)
