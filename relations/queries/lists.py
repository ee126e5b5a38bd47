"""Pages of the following and followers lists: Redis first, the shard for what it lacks."""

import dataclasses

from redis.exceptions import RedisError

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.api import base36
from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.caching.client import redis
from infra.caching.lists import ListCache, Mark, read_items, read_mark
from infra.sharding.buckets import shard_of
from relations.cache import FOLLOWERS, FOLLOWING, to_item, to_listed
from relations.queries.rows import BACKWARD, FORWARD, Side, read_newest, read_oldest_above
from relations.types import Listed

TIES = 8  # room for members of equal age around a cursor, before the shard is asked instead


@dataclasses.dataclass(frozen=True, slots=True)
class EdgeList:
    """One kind of list: its table, its cache, and the count that versions it."""

    side: Side
    cache: ListCache
    kind: CounterKind


FOLLOWING_LIST = EdgeList(FORWARD, FOLLOWING, CounterKind.FOLLOWING)
FOLLOWERS_LIST = EdgeList(BACKWARD, FOLLOWERS, CounterKind.FOLLOWERS)


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
    """One page, newest first. Cost: one Redis round trip; on a miss one query and a second trip."""
    below, above = decode_cursor(window.max_id), decode_cursor(window.since_id)
    after = decode_cursor(window.min_id)
    limit = window.limit
    if after is not None:
        items = read_oldest_above(edge_list.side, owner_id, after, limit)
        return _page(items, has_older=True)
    items = _read_cached(edge_list, owner_id, below, limit + 1)
    if above is not None:
        items = [item for item in items if item > above]
    return _page(items[:limit], has_older=len(items) > limit)


def _page(items: list[Listed], has_older: bool) -> Page[Listed]:
    older = encode_cursor(items[-1]) if items and has_older else None
    return Page(items, older, encode_cursor(items[0]) if items else None)


def _read_cached(
    edge_list: EdgeList, owner_id: int, below: Listed | None, limit: int
) -> list[Listed]:
    """At most `limit` items below the bound, from Redis as far as it reaches, then the shard."""
    cache = edge_list.cache
    top = below.since_ms if below else None
    commands = [cache.mark_command(owner_id), cache.newest_command(owner_id, top, limit + TIES)]
    try:
        mark_reply, reply = redis().run(commands)
    except RedisError:
        return read_newest(edge_list.side, owner_id, below, None, limit)
    mark = read_mark(mark_reply)
    if mark is None:
        fill(edge_list, owner_id)
        return read_newest(edge_list.side, owner_id, below, None, limit)
    items = [to_listed(item) for item in read_items(reply)]
    items = [item for item in items if below is None or item < below][:limit]
    if len(items) == limit or _is_all(mark, len(reply) // 2, limit):
        return items
    deepest = items[-1] if items else below
    return items + read_newest(edge_list.side, owner_id, deepest, None, limit - len(items))


def _is_all(mark: Mark, replied: int, limit: int) -> bool:
    """Whether a short answer is short because the list ends, not because the cache or ties cut it."""
    return mark.is_whole and replied < limit + TIES


def fill(edge_list: EdgeList, owner_id: int) -> list[Listed]:
    """Reads a list from its shard, lays it in the cache and returns it, newest first.

    The version is read before the rows: the list may be newer than it says, never older.
    Cost: two queries, one Redis round trip.
    """
    counts = read_counts(shard_of(owner_id), [owner_id], [edge_list.kind])
    version = counts[owner_id][edge_list.kind].version
    most = edge_list.cache.max_items
    items = read_newest(edge_list.side, owner_id, None, None, most + 1)
    kept = [to_item(listed) for listed in items[:most]]
    try:
        redis().call(*edge_list.cache.put_command(owner_id, version, kept, len(items) <= most))
    except RedisError:
        return items[:most]
    return items[:most]
