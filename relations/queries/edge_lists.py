"""Pages of the lists: Redis first, the shard for what it lacks.

What others see and what the owner sees are two lists: whom one follows quietly is one's secret.
"""

import dataclasses
import time
from collections.abc import Callable, Iterable
from functools import partial

from redis.exceptions import RedisError

from infra.api.pages import Page, Window
from infra.caching.hot_values import HotValues
from infra.caching.invalidation import register_copies
from infra.caching.list_pages import ListContinuation
from infra.caching.lists import ListCache
from relations.cache import FOLLOWERS, FOLLOWING, QUIET
from relations.queries.cached_edge_list import CachedEdgeList, find_above, find_below
from relations.queries.cursors import decode_cursor, encode_cursor
from relations.queries.deep import admit_deep_page
from relations.queries.edge_rows import (
    BACKWARD,
    BACKWARD_OPEN,
    FORWARD,
    FORWARD_BLOCKS,
    FORWARD_OPEN,
    FORWARD_QUIET,
    FORWARD_SPECIAL,
    EdgeRows,
    read_deep,
    read_newest,
    read_oldest_above,
)
from relations.queries.loaders import load_followers_list, load_following_lists
from relations.types import ListedAccount

FirstPages = HotValues[tuple[int, int], CachedEdgeList]  # by owner and limit


@dataclasses.dataclass(frozen=True, slots=True)
class Tier:
    """How Redis holds a list.

    `without`: whose members are left out. `lay(owner, cache, is_deep)`: reads the list and lays
    it. `first_pages`: of lists that are read very much, in process memory for HOT_COPY_MS.
    `is_endless`: no cap limits the list; what Redis lacks of it is behind DEEP_PAGES_PER_S.
    """

    cache: ListCache
    lay: Callable[[int, ListCache, bool], CachedEdgeList]
    without: ListCache | None = None
    first_pages: FirstPages | None = None
    is_endless: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class EdgeList:
    """One kind of list. `tier` None: always from the shard; only the owner reads it."""

    rows: EdgeRows
    tier: Tier | None = None


class _FollowingPages(FirstPages):
    """First pages of following lists, told of changes by the owners of the lists."""

    def forget(self, owner_ids: Iterable[int]) -> None:
        self.forget_names([FOLLOWING.key(owner_id) for owner_id in owner_ids])

    def forget_all(self) -> None:
        self.clear()


_following_pages = _FollowingPages(FOLLOWING.family, lambda page: FOLLOWING.key(page[0]))
register_copies(FOLLOWING.family, _following_pages)

# As others see them.
FOLLOWING_LIST = EdgeList(
    FORWARD_OPEN,
    Tier(
        FOLLOWING,
        lambda owner_id, *_: load_following_lists(owner_id).open(),
        QUIET,
        _following_pages,
    ),
)
# Never from process memory: those of big accounts change all the time (seed S3).
FOLLOWERS_LIST = EdgeList(BACKWARD_OPEN, Tier(FOLLOWERS, load_followers_list, is_endless=True))
# As the owner sees them.
OWN_FOLLOWING_LIST = EdgeList(
    FORWARD, Tier(FOLLOWING, lambda owner_id, *_: load_following_lists(owner_id).all())
)
OWN_FOLLOWERS_LIST = EdgeList(BACKWARD)
QUIET_LIST = EdgeList(FORWARD_QUIET)
SPECIAL_LIST = EdgeList(FORWARD_SPECIAL)
BLOCKS_LIST = EdgeList(FORWARD_BLOCKS)


def list_page(edge_list: EdgeList, owner_id: int, window: Window) -> Page[ListedAccount]:
    """One page, newest first; cursors name members that are on it, never one that is hidden.

    Raises: InvalidCursor, TooManyDeepPages. Cost: one Redis round trip, none for the first page of
    a hot following list; on a miss two queries and a second trip. Below what Redis holds of
    followers: one query, or, once, the two that lay the newest FOLLOWERS_CACHED; and a trip to be
    admitted. Own secret lists: one query.
    """
    below, above = decode_cursor(window.max_id), decode_cursor(window.since_id)
    after = decode_cursor(window.min_id)
    limit = window.limit
    if after is not None:
        return _page(_right_above(edge_list, owner_id, after, limit), has_older=True)
    items = _newest(edge_list, owner_id, below, limit + 1)
    if above is not None:
        items = [item for item in items if item > above]
    return _page(items[:limit], has_older=len(items) > limit)


def _page(items: list[ListedAccount], has_older: bool) -> Page[ListedAccount]:
    older = encode_cursor(items[-1]) if items and has_older else None
    return Page(items, older, encode_cursor(items[0]) if items else None)


def _newest(
    edge_list: EdgeList, owner_id: int, below: ListedAccount | None, limit: int
) -> list[ListedAccount]:
    """At most `limit` items below the bound, from Redis as far as it reaches, then the shard."""
    tier = edge_list.tier
    if tier is None:
        return read_newest(edge_list.rows, owner_id, below, None, limit)
    try:
        held = _find(tier, owner_id, below, limit)
    except RedisError:
        if below is not None:
            _admit(tier)
        return read_newest(edge_list.rows, owner_id, below, None, limit)
    if held is None or _is_worth_loading(tier, held):
        held = tier.lay(owner_id, tier.cache, below is not None).below(below, limit)
    if held.rest is not ListContinuation.SOURCE_ONLY:
        return held.items
    _admit(tier)
    deepest = held.items[-1] if held.items else below
    left = limit - len(held.items)
    return held.items + _read_on(edge_list.rows, owner_id, deepest, left)


def _read_on(
    rows: EdgeRows, owner_id: int, below: ListedAccount | None, limit: int
) -> list[ListedAccount]:
    if below is None:
        return read_newest(rows, owner_id, None, None, limit)
    return read_deep(rows, owner_id, below, limit, time.time())


def _right_above(
    edge_list: EdgeList, owner_id: int, after: ListedAccount, limit: int
) -> list[ListedAccount]:
    """The `limit` items right above the bound, newest first."""
    tier = edge_list.tier
    if tier is None:
        return read_oldest_above(edge_list.rows, owner_id, after, limit)
    try:
        held = find_above(tier.cache, owner_id, after, limit, tier.without)
        held = held or tier.lay(owner_id, tier.cache, False).above(after, limit)
        if held.rest is not ListContinuation.SOURCE_ONLY:
            return held.items
    except RedisError:
        pass
    _admit(tier)
    return read_oldest_above(edge_list.rows, owner_id, after, limit)


def _find(
    tier: Tier, owner_id: int, below: ListedAccount | None, limit: int
) -> CachedEdgeList | None:
    read = partial(find_below, tier.cache, owner_id, below, limit, tier.without)
    if tier.first_pages is None or below is not None:
        return read()
    return tier.first_pages.get((owner_id, limit), read)


def _is_worth_loading(tier: Tier, held: CachedEdgeList) -> bool:
    """Somebody asks for more than the first pages: of a list that holds few, all are laid."""
    return held.rest is ListContinuation.SOURCE_ONLY and held.size < tier.cache.max_items // 2


def _admit(tier: Tier) -> None:
    if tier.is_endless:
        admit_deep_page()
