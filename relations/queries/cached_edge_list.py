"""What Redis holds of the lists."""

from typing import NamedTuple

from infra.caching.client import redis
from infra.caching.list_pages import ListContinuation, Side, page_command, read_page
from infra.caching.lists import ListCache, read_items, read_version_marker
from infra.caching.metrics import count_reads
from relations.cache import to_item, to_listed
from relations.types import ListedAccount


class CachedEdgeList(NamedTuple):
    """Part of a list, newest first; `rest`: where the list goes on beyond it, away from the place
    it was asked for. `size`: how many are cached in all."""

    version: int
    items: list[ListedAccount]
    rest: ListContinuation
    size: int

    def below(self, place: ListedAccount | None, limit: int) -> "CachedEdgeList":
        """The newest of them below a place."""
        items = [item for item in self.items if place is None or item < place][:limit]
        rest = ListContinuation.CACHED if len(items) == limit else self.rest
        return self._replace(items=items, rest=rest)

    def above(self, place: ListedAccount, limit: int) -> "CachedEdgeList":
        """The oldest of them above a place."""
        items = [item for item in self.items if item > place]
        is_deep = self.rest is ListContinuation.SOURCE_ONLY and len(items) == len(self.items)
        rest = ListContinuation.SOURCE_ONLY if is_deep else ListContinuation.END
        return self._replace(items=items[-limit:], rest=rest)


def find_below(
    cache: ListCache,
    owner_id: int,
    place: ListedAccount | None,
    limit: int,
    without: ListCache | None,
) -> CachedEdgeList | None:
    """The newest members below a place; None: not cached. Raises: RedisError. One round trip."""
    return _find("below", cache, owner_id, place, limit, without)


def find_above(
    cache: ListCache, owner_id: int, place: ListedAccount, limit: int, without: ListCache | None
) -> CachedEdgeList | None:
    """The oldest members above a place; otherwise as find_below."""
    held = _find("above", cache, owner_id, place, limit, without)
    return held._replace(items=held.items[::-1]) if held else None


def _find(
    side: Side,
    cache: ListCache,
    owner_id: int,
    place: ListedAccount | None,
    limit: int,
    without: ListCache | None,
) -> CachedEdgeList | None:
    at = to_item(place) if place is not None else None
    page = read_page(redis().call(*page_command(cache, owner_id, side, at, limit, without)))
    if page is None:
        count_reads(cache.family, "redis", hits=0, misses=1)
        return None
    count_reads(cache.family, "redis", hits=1)
    return CachedEdgeList(
        page.version, [to_listed(item) for item in page.items], page.rest, page.size
    )


def find_whole(cache: ListCache, owner_id: int) -> CachedEdgeList | None:
    """A list that is cached whole; None: it is not cached.

    The mark is read on both sides of the members: a list dropped between the two would look like
    one that is empty. Raises: RedisError. Cost: one round trip.
    """
    version_marker_command = cache.version_marker_command(owner_id)
    commands = [
        version_marker_command,
        cache.newest_command(owner_id, None, cache.max_items),
        version_marker_command,
    ]
    before, members, after = redis().run(commands)
    mark = read_version_marker(before)
    if mark is None or before != after:
        count_reads(cache.family, "redis", hits=0, misses=1)
        return None
    count_reads(cache.family, "redis", hits=1)
    items = [to_listed(item) for item in read_items(members)]
    return CachedEdgeList(mark.version, items, ListContinuation.END, len(items))
