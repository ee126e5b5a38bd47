"""Pages of the lists against sorting in plain Python: any bound, any limit, ties, any cache."""

import dataclasses
from itertools import product

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.api.pages import Window
from infra.caching.client import SingleClient, redis
from relations.queries.lists import (
    FOLLOWERS_LIST,
    FOLLOWING_LIST,
    EdgeList,
    encode_cursor,
    list_page,
)
from relations.types import Attribute, Listed
from tests.integration.relations.edge_rows import lay_edges, lay_list
from tests.races import run_together
from tests.world import make_account

# Nine of one millisecond (more than the cache has room for around a cursor), and twos and ones.
TIED = [Listed(500, 100 + n) for n in range(9)]
ITEMS = [*TIED, Listed(100, 7), Listed(100, 8), Listed(300, 9), Listed(900, 5), Listed(901, 4)]
NEWEST_FIRST = sorted(ITEMS, reverse=True)
# Every member, and places between and around them where no member is (any more).
BOUNDS = [*ITEMS, Listed(0, 1), Listed(300, 8), Listed(500, 50), Listed(700, 1), Listed(999, 1)]
LIMITS = (1, 2, 5, len(ITEMS) - 1, len(ITEMS), 80)


def cut(edge_list: EdgeList, most: int) -> EdgeList:
    """The same list where Redis keeps the newest few only."""
    return dataclasses.replace(edge_list, cache=edge_list.cache._replace(max_items=most))


@pytest.fixture(params=[FOLLOWING_LIST, FOLLOWERS_LIST], ids=["following", "followers"])
def edge_list(request):
    return request.param


@pytest.fixture(params=["cold", "warm", "cut among equals", "cut", "away"])
def cache(request, world, edge_list, monkeypatch):
    """A call that brings the cache into its state, and the list as it is cached."""
    if request.param == "away":

        def away(self, commands):
            raise RedisConnectionError

        monkeypatch.setattr(SingleClient, "run", away)
        yield (lambda: None), edge_list
        monkeypatch.undo()
    elif request.param == "cold":
        yield (lambda: redis().call("FLUSHDB")), edge_list
    else:
        most = {"warm": 80, "cut among equals": 6, "cut": 2}[request.param]
        yield (lambda: None), cut(edge_list, most)


@pytest.fixture
def owner(cache, edge_list):
    owner_id = make_account()
    lay_list(edge_list, owner_id, ITEMS)
    lay_edges(edge_list, owner_id, [Listed(400, 1), Listed(950, 2)], Attribute.NONE)
    lay_list(edge_list, make_account(), [Listed(400, 3)])
    return owner_id


def expected(limit: int, below: Listed | None, above: Listed | None, after: Listed | None):
    if after is not None:
        return [item for item in NEWEST_FIRST if item > after][-limit:]
    kept = [i for i in NEWEST_FIRST if (not below or i < below) and (not above or i > above)]
    return kept[:limit]


def window(limit: int, below: Listed | None, above: Listed | None, after: Listed | None) -> Window:
    return Window(limit, *(encode_cursor(c) if c else None for c in (below, above, after)))


def test_pages_below_and_after_any_bound(owner, cache):
    prepare, cached_list = cache
    for limit, bound in product(LIMITS, [None, *BOUNDS]):
        for asked in {(bound, None, None), (None, bound, None), (None, None, bound)}:
            prepare()
            page = list_page(cached_list, owner, window(limit, *asked))
            assert page.items == expected(limit, *asked), (limit, asked)


def test_pages_between_two_bounds(owner, cache):
    prepare, cached_list = cache
    for below, above in product(BOUNDS, BOUNDS):
        prepare()
        page = list_page(cached_list, owner, window(5, below, above, None))
        assert page.items == expected(5, below, above, None), (below, above)


@pytest.mark.parametrize("limit", LIMITS)
def test_paging_down_shows_everybody_once_and_ends(owner, cache, limit):
    prepare, cached_list = cache
    shown, cursor = [], None
    while True:
        prepare()
        page = list_page(cached_list, owner, Window(limit, max_id=cursor))
        shown += page.items
        if page.older is None:
            break
        cursor = page.older
    assert shown == NEWEST_FIRST


@pytest.mark.parametrize("limit", LIMITS)
def test_paging_up_shows_everybody_once_and_ends(owner, cache, limit):
    _, cached_list = cache
    shown, cursor = [], encode_cursor(Listed(0, 0))
    while page := list_page(cached_list, owner, Window(limit, min_id=cursor)):
        if not page.items:
            break
        shown = [*page.items, *shown]
        cursor = page.newer
    assert shown == NEWEST_FIRST


def test_older_is_named_only_where_there_is_more(owner, cache):
    prepare, cached_list = cache
    for limit in LIMITS:
        prepare()
        page = list_page(cached_list, owner, Window(limit))
        assert (page.older is not None) == (limit < len(ITEMS))
        assert page.newer == encode_cursor(NEWEST_FIRST[0])


def test_nobodys_list_is_empty(cache):
    _, cached_list = cache
    page = list_page(cached_list, make_account(), Window(40))
    assert (page.items, page.older, page.newer) == ([], None, None)


def test_first_readers_at_once_all_see_the_whole_list(world, edge_list):
    owner_id = make_account()
    lay_list(edge_list, owner_id, ITEMS)
    pages = run_together([lambda: list_page(edge_list, owner_id, Window(80)).items] * 12)
    assert pages == [NEWEST_FIRST] * 12
