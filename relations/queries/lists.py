"""Pages of the following and followers lists: Redis first, the shard for what it lacks."""

import dataclasses
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from redis.exceptions import RedisError

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.api import base36
from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.caching.client import redis
from infra.caching.hot_values import HotValues
from infra.caching.lists import ListCache, read_items, read_mark
from infra.caching.reads import count_reads
from infra.sharding.buckets import shard_of
from relations.cache import FOLLOWERS, FOLLOWING, to_item, to_listed
from relations.queries.rows import BACKWARD, FORWARD, Side, read_newest, read_oldest_above
from relations.types import Listed

TIES = 8  # room for members of equal age around a cursor, before the shard is asked instead


class Held(NamedTuple):
    """A list's newest members at or below a bound; `is_rest`: there are no others below it."""

    version: int
    items: list[Listed]
    is_rest: bool


FirstPages = HotValues[tuple[int, int], Held]  # by owner and limit


@dataclasses.dataclass(frozen=True, slots=True)
class EdgeList:
    """One kind of list: its table, its cache, and the count that versions it.

    `first_pages`: of lists that are read very much, in process memory for HOT_COPY_MS.
    """

    side: Side
    cache: ListCache
    kind: CounterKind
    first_pages: FirstPages | None


_following_pages: FirstPages = HotValues(FOLLOWING.family, lambda page: FOLLOWING.key(page[0]))
FOLLOWING_LIST = EdgeList(FORWARD, FOLLOWING, CounterKind.FOLLOWING, _following_pages)
# Never from process memory: those of big accounts change all the time (seed S3).
FOLLOWERS_LIST = EdgeList(BACKWARD, FOLLOWERS, CounterKind.FOLLOWERS, first_pages=None)


def forget_first_pages(owner_ids: Iterable[int]) -> None:
    """Drops this process's copies: who changed their list and reads it next must see the change."""
    _following_pages.drop([FOLLOWING.key(owner_id) for owner_id in owner_ids])


def encode_cursor(listed: Listed) -> str:
    """15 base36 digits: 9 of the time, 6 of the account."""
    return base36.encode(listed.since_ms, 9) + base36.encode(listed.account_id, 6)


def decode_cursor(text: str | None) -> Listed | None:
    """Raises InvalidCursor for anything `encode_cursor` did not make."""
    if text is None:
        return None
    try:
        if len(text) != 15:
            raise ValueError
        return Listed(base36.decode(text[:9]), base36.decode(text[9:]))
    except ValueError:
        raise InvalidCursor from None


def list_page(edge_list: EdgeList, owner_id: int, window: Window) -> Page[Listed]:
    """One page, newest first. Raises InvalidCursor.

    Cost: one Redis round trip, none for the first page of a hot following list; below what Redis
    holds one query more; on a miss two queries and a second trip. With `min_id` one query.
    """
    below, above = decode_cursor(window.max_id), decode_cursor(window.since_id)
    after = decode_cursor(window.min_id)
    limit = window.limit
    if after is not None:
        items = read_oldest_above(edge_list.side, owner_id, after, limit)
        return _page(items, has_older=True)
    items = _newest(edge_list, owner_id, below, limit + 1)
    if above is not None:
        items = [item for item in items if item > above]
    return _page(items[:limit], has_older=len(items) > limit)


def _page(items: list[Listed], has_older: bool) -> Page[Listed]:
    older = encode_cursor(items[-1]) if items and has_older else None
    return Page(items, older, encode_cursor(items[0]) if items else None)


def _newest(edge_list: EdgeList, owner_id: int, below: Listed | None, limit: int) -> list[Listed]:
    """At most `limit` items below the bound, from Redis as far as it reaches, then the shard."""
    try:
        held = _find_held(edge_list, owner_id, below, limit + TIES)
    except RedisError:
        return read_newest(edge_list.side, owner_id, below, None, limit)
    held = held or fill(edge_list, owner_id)
    items = [item for item in held.items if below is None or item < below][:limit]
    if len(items) == limit or held.is_rest:
        return items
    deepest = items[-1] if items else below
    return items + read_newest(edge_list.side, owner_id, deepest, None, limit - len(items))


def _find_held(edge_list: EdgeList, owner_id: int, below: Listed | None, limit: int) -> Held | None:
    top = below.since_ms if below else None
    read = partial(read_held, edge_list.cache, owner_id, top, limit)
    if edge_list.first_pages is None or below is not None:
        return read()
    return edge_list.first_pages.get((owner_id, limit), read)


def read_held(cache: ListCache, owner_id: int, top: int | None, limit: int) -> Held | None:
    """What Redis has of a list at or below a score; None: the list is not cached.

    The mark is read on both sides of the members: a list dropped between the two would look like
    one that ends here. Raises: RedisError. Cost: one round trip.
    """
    mark_command = cache.mark_command(owner_id)
    commands = [mark_command, cache.newest_command(owner_id, top, limit), mark_command]
    before, members, after = redis().run(commands)
    mark = read_mark(before)
    if mark is None or before != after:
        count_reads(cache.family, "redis", hits=0, misses=1)
        return None
    count_reads(cache.family, "redis", hits=1)
    items = [to_listed(item) for item in read_items(members)]
    return Held(mark.version, items, mark.is_whole and len(items) < limit)


def fill(edge_list: EdgeList, owner_id: int) -> Held:
    """Reads a list from its shard, lays it in the cache and returns it, newest first.

    The version is read before the rows: the list may be newer than it says, never older.
    Cost: two queries, one Redis round trip.
    """
    counts = read_counts(shard_of(owner_id), [owner_id], [edge_list.kind])
    version = counts[owner_id][edge_list.kind].version
    most = edge_list.cache.max_items
    rows = read_newest(edge_list.side, owner_id, None, None, most + 1)
    held = Held(version, rows[:most], is_rest=len(rows) <= most)
    members = [to_item(listed) for listed in held.items]
    with suppress(RedisError):  # the next reader tries again
        redis().call(*edge_list.cache.put_command(owner_id, version, members, held.is_rest))
    return held
