"""Parts of edge lists as Redis has them."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.lists import (
    ListCache,
    ListContinuation,
    Side,
    page_command,
    read_items,
    read_page,
    read_version_marker,
)
from infra.caching.metrics import count_reads
from infra.caching.questions import Question, Replies
from relations.cache import to_item, to_listed
from relations.types import ListedAccount


class CachedEdgeList(NamedTuple):
    """Part of a list, newest first.

    `rest`: where the list continues beyond this part, in the direction of the read. `size`: how
    many members are cached in all.
    """

    version: int
    items: list[ListedAccount]
    rest: ListContinuation
    size: int

    def below(self, bound: ListedAccount | None, limit: int) -> "CachedEdgeList":
        """The newest members older than the bound."""
        items = [item for item in self.items if bound is None or item < bound][:limit]
        rest = ListContinuation.CACHED if len(items) == limit else self.rest
        return self._replace(items=items, rest=rest)

    def above(self, bound: ListedAccount, limit: int) -> "CachedEdgeList":
        """The oldest members newer than the bound."""
        items = [item for item in self.items if item > bound]
        is_deep = self.rest is ListContinuation.SOURCE_ONLY and len(items) == len(self.items)
        rest = ListContinuation.SOURCE_ONLY if is_deep else ListContinuation.END
        return self._replace(items=items[-limit:], rest=rest)


def find_below(
    cache: ListCache,
    owner_id: int,
    bound: ListedAccount | None,
    limit: int,
    without: ListCache | None,
) -> CachedEdgeList | None:
    """The newest members older than the bound; None: not cached. Raises: RedisError. One trip."""
    return _find("below", cache, owner_id, bound, limit, without)


def find_above(
    cache: ListCache, owner_id: int, bound: ListedAccount, limit: int, without: ListCache | None
) -> CachedEdgeList | None:
    """The oldest members newer than the bound; otherwise as find_below."""
    found = _find("above", cache, owner_id, bound, limit, without)
    return found._replace(items=found.items[::-1]) if found else None


def _find(
    side: Side,
    cache: ListCache,
    owner_id: int,
    bound: ListedAccount | None,
    limit: int,
    without: ListCache | None,
) -> CachedEdgeList | None:
    item = to_item(bound) if bound is not None else None
    reply = redis().call(*page_command(cache, owner_id, side, item, limit, without))
    return _counted(cache, decode(cache.family, _decode_page, reply))


def find_whole(cache: ListCache, owner_id: int) -> CachedEdgeList | None:
    """All members of a list that is cached whole; None: it is not cached.

    The version marker is read before and after the members: a list that was dropped between would
    look like an empty one. Raises: RedisError. Cost: one round trip.
    """
    marker_command = cache.version_marker_command(owner_id)
    newest_command = cache.newest_command(owner_id, None, cache.max_items)
    before, members, after = redis().run([marker_command, newest_command, marker_command])
    marker = read_version_marker(before)
    if marker is None or before != after:
        return _counted(cache, None)
    items = decode(cache.family, _decode_items, members)
    if items is None:
        return _counted(cache, None)
    found = CachedEdgeList(marker.version, items, ListContinuation.END, len(items))
    return _counted(cache, found)


def ask_whole(
    cache: ListCache, owner_id: int, without: ListCache
) -> Question[CachedEdgeList | None]:
    """All members but those of `without`; None: the lists are not cached whole."""
    command = page_command(cache, owner_id, "below", None, cache.max_items, without)

    def decode_whole(replies: Replies) -> CachedEdgeList | None:
        reply = replies[0] if replies else None
        found = _counted(cache, decode(cache.family, _decode_page, reply))
        return found if found and found.rest is ListContinuation.END else None

    return Question([command], decode_whole)


def _decode_page(reply: Sequence[bytes]) -> CachedEdgeList | None:
    page = read_page(reply)
    if page is None:
        return None
    return CachedEdgeList(page.version, list(map(to_listed, page.items)), page.rest, page.size)


def _decode_items(members: Sequence[bytes]) -> list[ListedAccount]:
    return list(map(to_listed, read_items(members)))


def _counted(cache: ListCache, found: CachedEdgeList | None) -> CachedEdgeList | None:
    """Counts a hit or a miss."""
    count_reads(cache.family, "redis", hits=found is not None, misses=found is None)
    return found
