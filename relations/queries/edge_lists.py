"""Pages of edge lists: from Redis, and what Redis lacks from the shard.

Others and the owner see two different lists: quiet follows are the owner's secret.
"""

import dataclasses
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from redis.exceptions import RedisError

from infra.api import base36
from infra.api.errors import InvalidCursor
from infra.api.ids import split_cursor
from infra.api.pages import Page, Window
from infra.caching.lists import ListCache, ListContinuation
from infra.caching.load_tokens import LoadTokens
from infra.shared_thread import need_own_thread
from relations.cache import FOLLOWERS, FOLLOWING, QUIET
from relations.queries.cached_edge_list import (
    CachedEdgeList,
    EdgeListRead,
    load_part,
    read_above,
    read_below,
)
from relations.queries.edge_rows import (
    BACKWARD,
    BACKWARD_OPEN,
    BACKWARD_QUIET,
    BACKWARD_REQUESTS,
    FORWARD,
    FORWARD_BLOCKS,
    FORWARD_ENDORSED,
    FORWARD_ENDORSED_OPEN,
    FORWARD_OPEN,
    FORWARD_QUIET,
    FORWARD_SPECIAL,
    EdgeRows,
    read_deep,
    read_newest,
    read_oldest_above,
)
from relations.queries.loaders import (
    admit_deep_page,
    load_followers_list,
    load_following_lists,
)
from relations.types import ListedAccount

# Base36 digits of the time and of the account in a cursor.
CURSOR_DIGITS = 9, 6
# At most so many members, newest first: the newest below a bound, and the oldest above one.
ReadBelow = Callable[[ListedAccount | None, int], list[ListedAccount]]
ReadAbove = Callable[[ListedAccount, int], list[ListedAccount]]
BeforeLoad = Callable[[], None]


class ListReads(NamedTuple):
    """How a list is read, from any bound on."""

    newest: ReadBelow
    above: ReadAbove


@dataclasses.dataclass(frozen=True, slots=True)
class Tier:
    """How Redis holds a list.

    `load(owner, tokens, cache, is_deep)` reads the list from the shard and writes it to Redis under
    the load tokens. `without`: the members of this list are left out. `is_endless`: the list has no
    cap, and reads beyond Redis need DEEP_PAGES_PER_S.
    """

    cache: ListCache
    load: Callable[[int, LoadTokens, ListCache, bool], CachedEdgeList]
    without: ListCache | None = None
    is_endless: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class EdgeList:
    """One kind of list. `tier` None: it is always read from the shard, as few read it."""

    rows: EdgeRows
    tier: Tier | None = None


# The lists that others see.
FOLLOWING_LIST = EdgeList(
    FORWARD_OPEN,
    Tier(
        FOLLOWING,
        lambda owner_id, tokens, *_: load_following_lists(owner_id, tokens).open(),
        QUIET,
    ),
)
FOLLOWERS_LIST = EdgeList(BACKWARD_OPEN, Tier(FOLLOWERS, load_followers_list, is_endless=True))
# The lists that the owner sees.
OWN_FOLLOWING_LIST = EdgeList(
    FORWARD,
    Tier(FOLLOWING, lambda owner_id, tokens, *_: load_following_lists(owner_id, tokens).all()),
)
OWN_FOLLOWERS_LIST = EdgeList(BACKWARD)
QUIET_LIST = EdgeList(FORWARD_QUIET)
QUIET_FOLLOWERS_LIST = EdgeList(BACKWARD_QUIET)
REQUESTS_LIST = EdgeList(BACKWARD_REQUESTS)
SPECIAL_LIST = EdgeList(FORWARD_SPECIAL)
# Others see no quiet follow on it.
ENDORSED_LIST = EdgeList(FORWARD_ENDORSED_OPEN)
OWN_ENDORSED_LIST = EdgeList(FORWARD_ENDORSED)
BLOCKS_LIST = EdgeList(FORWARD_BLOCKS)


def encode_cursor(listed: ListedAccount) -> str:
    """15 base36 digits: 9 of the time, 6 of the account. The account need not be on the list."""
    times, accounts = CURSOR_DIGITS
    return base36.encode(listed.since_ms, times) + base36.encode(listed.account_id, accounts)


def decode_cursor(text: str | None) -> ListedAccount | None:
    """From what `encode_cursor` made, or from any number. Raises InvalidCursor."""
    if text is None:
        return None
    try:
        return ListedAccount(*split_cursor(text, *CURSOR_DIGITS))
    except ValueError:
        raise InvalidCursor from None


def list_page(
    edge_list: EdgeList, owner_id: int, window: Window, before_load: BeforeLoad = lambda: None
) -> Page[ListedAccount]:
    """One page, newest first, with all members. For a viewer: relations/queries/shown_lists.py.

    `before_load` is called before a shard is read, and may refuse it by an error. Raises:
    InvalidCursor, TooManyDeepPages, and what `before_load` raises. Cost: one Redis round trip, a
    short one for the first page of a hot following list; on a miss two queries and a second trip.
    Followers beyond those in Redis: one query, or, once, the two that load the newest
    FOLLOWERS_CACHED; and a trip for admission. The owner's secret lists: one query.
    """
    return cut_page(window, reads_of(edge_list, owner_id, before_load))


def reads_of(
    edge_list: EdgeList, owner_id: int, before_load: BeforeLoad = lambda: None
) -> ListReads:
    """The two reads of a list. Cost of each: as `list_page`."""
    asked = edge_list, owner_id, before_load
    return ListReads(partial(_newest, *asked), partial(_right_above, *asked))


def cut_page(window: Window, reads: ListReads) -> Page[ListedAccount]:
    """One page, newest first, of the two reads of a list. Raises: InvalidCursor."""
    below, above = decode_cursor(window.max_id), decode_cursor(window.since_id)
    after = decode_cursor(window.min_id)
    limit = window.limit
    if after is not None:
        above_it = reads.above(after, limit)
        inside = above_it if below is None else [item for item in above_it if item < below]
        return _page(inside, has_older=True)
    items = reads.newest(below, limit + 1)
    if above is not None:
        items = [item for item in items if item > above]
    return _page(items[:limit], has_older=len(items) > limit)


def _page(items: list[ListedAccount], has_older: bool) -> Page[ListedAccount]:
    older = encode_cursor(items[-1]) if items and has_older else None
    return Page(items, older, encode_cursor(items[0]) if items else None)


def _newest(
    edge_list: EdgeList,
    owner_id: int,
    before_load: BeforeLoad,
    below: ListedAccount | None,
    limit: int,
) -> list[ListedAccount]:
    """At most `limit` items older than the bound: first from Redis, the rest from the shard."""
    tier = edge_list.tier
    if tier is None:
        before_load()
        return read_newest(edge_list.rows, owner_id, below, None, limit)
    read = read_below(tier.cache, owner_id, below, limit, tier.without)
    try:
        cached = read.find()
    except RedisError:
        before_load()
        if below is not None:
            _admit(tier)
        return read_newest(edge_list.rows, owner_id, below, None, limit)
    if cached is None or _is_worth_loading(tier, cached):
        before_load()
        # Another thread may load a longer part now.
        enough = read._replace(ask=lambda: read.ask().then(partial(_keep_enough, tier)))
        cached = _load(tier, owner_id, enough, is_deep=below is not None)
    if cached.continuation is not ListContinuation.SOURCE_ONLY:
        return cached.items
    _admit(tier)
    deepest = cached.items[-1] if cached.items else below
    left = limit - len(cached.items)
    return cached.items + _read_on(edge_list.rows, owner_id, deepest, left)


def _read_on(
    rows: EdgeRows, owner_id: int, below: ListedAccount | None, limit: int
) -> list[ListedAccount]:
    if below is None:
        return read_newest(rows, owner_id, None, None, limit)
    return read_deep(rows, owner_id, below, limit, time.time())


def _right_above(
    edge_list: EdgeList,
    owner_id: int,
    before_load: BeforeLoad,
    after: ListedAccount,
    limit: int,
) -> list[ListedAccount]:
    """The `limit` oldest items newer than the bound, newest first."""
    tier = edge_list.tier
    if tier is None:
        before_load()
        return read_oldest_above(edge_list.rows, owner_id, after, limit)
    read = read_above(tier.cache, owner_id, after, limit, tier.without)
    try:
        cached = read.find()
        if cached is None:
            before_load()
            cached = _load(tier, owner_id, read, is_deep=False)
        if cached.continuation is not ListContinuation.SOURCE_ONLY:
            return cached.items
    except RedisError:
        before_load()
    _admit(tier)
    return read_oldest_above(edge_list.rows, owner_id, after, limit)


def _load(tier: Tier, owner_id: int, read: EdgeListRead, is_deep: bool) -> CachedEdgeList:
    load = tier.load
    return load_part(owner_id, read, lambda tokens: load(owner_id, tokens, tier.cache, is_deep))


def _keep_enough(tier: Tier, cached: CachedEdgeList | None) -> CachedEdgeList | None:
    return None if cached is None or _is_worth_loading(tier, cached) else cached


def _is_worth_loading(tier: Tier, cached: CachedEdgeList) -> bool:
    """A reader asks for more than the few members that are cached of a long list."""
    return (
        cached.continuation is ListContinuation.SOURCE_ONLY
        and cached.size < tier.cache.max_items // 2
    )


def _admit(tier: Tier) -> None:
    need_own_thread()  # a page is admitted once, and then reads a shard
    if tier.is_endless:
        admit_deep_page()
