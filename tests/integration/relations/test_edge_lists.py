"""Pages of the lists against sorting in plain Python: any bound, any limit, ties, any cache."""

from itertools import product

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.single import SingleClient
from relations.queries.edge_lists import (
    FOLLOWERS_LIST,
    FOLLOWING_LIST,
    OWN_FOLLOWERS_LIST,
    OWN_FOLLOWING_LIST,
    QUIET_FOLLOWERS_LIST,
    QUIET_LIST,
    encode_cursor,
    list_page,
)
from relations.types import Attribute, ListedAccount
from tests.integration.relations.edge_rows import cut, write_edges, write_list
from tests.races import run_together
from tests.world import make_account

# Nine of one millisecond, and twos and ones; some of each are quiet, the first and the last too.
OPEN = [
    ListedAccount(100, 7),
    ListedAccount(100, 8),
    ListedAccount(300, 9),
    ListedAccount(900, 5),
    ListedAccount(901, 4),
]
OPEN += [ListedAccount(500, 100 + 2 * n) for n in range(9)]
QUIET = [
    ListedAccount(500, 101),
    ListedAccount(500, 117),
    ListedAccount(900, 6),
    ListedAccount(902, 3),
    ListedAccount(99, 10),
]
# Every member, and places between and around them where no member is (any more).
BOUNDS = [
    *OPEN,
    *QUIET,
    *(ListedAccount(*at) for at in [(0, 1), (300, 8), (500, 50), (700, 1), (999, 1)]),
]
LIMITS = (1, 2, 5, len(OPEN) - 1, len(OPEN), 80)

LISTS = {
    "following": (FOLLOWING_LIST, OPEN),
    "own following": (OWN_FOLLOWING_LIST, OPEN + QUIET),
    "quiet following": (QUIET_LIST, QUIET),
    "quiet followers": (QUIET_FOLLOWERS_LIST, QUIET),
    "followers": (FOLLOWERS_LIST, OPEN),
    "own followers": (OWN_FOLLOWERS_LIST, OPEN + QUIET),
    "followers cut among equals": (cut(FOLLOWERS_LIST, 6), OPEN),
    "followers cut": (cut(FOLLOWERS_LIST, 2), OPEN),
}


@pytest.fixture(params=LISTS)
def listed(request):
    """A list and its members, newest first."""
    edge_list, members = LISTS[request.param]
    return edge_list, sorted(members, reverse=True)


@pytest.fixture(params=["cold", "warm", "away"])
def prepare(request, world, monkeypatch):
    """Brings the cache into its state before a page is asked for."""
    if request.param == "away":

        def away(self, commands):
            raise RedisConnectionError

        monkeypatch.setattr(SingleClient, "run", away)
    yield (lambda: redis().call("FLUSHDB")) if request.param == "cold" else (lambda: None)
    monkeypatch.undo()


@pytest.fixture
def owner(prepare, listed):
    edge_list, _ = listed
    owner_id = make_account()
    write_list(edge_list, owner_id, OPEN)
    write_edges(edge_list, owner_id, QUIET, Attribute.WHISPER)
    write_edges(edge_list, owner_id, [ListedAccount(400, 1), ListedAccount(950, 2)], Attribute.NONE)
    write_edges(
        edge_list, owner_id, [ListedAccount(401, 11), ListedAccount(951, 12)], Attribute.BLACK
    )
    write_list(edge_list, make_account(), [ListedAccount(400, 3)])
    return owner_id


def expected(members, limit: int, below=None, above=None, after=None):
    if after is not None:
        return [item for item in members if item > after][-limit:]
    kept = [i for i in members if (not below or i < below) and (not above or i > above)]
    return kept[:limit]


def window(
    limit: int,
    below: ListedAccount | None,
    above: ListedAccount | None,
    after: ListedAccount | None,
) -> Window:
    return Window(limit, *(encode_cursor(c) if c else None for c in (below, above, after)))


@pytest.mark.slow
def test_pages_are_those_of_a_plain_list(owner, listed, prepare):
    assert_pages_below_and_after_any_bound(owner, listed, prepare)
    assert_pages_between_two_bounds(owner, listed, prepare)
    assert_paging_down_shows_everybody_once_and_ends(owner, listed, prepare)
    assert_paging_up_shows_everybody_once_and_ends(owner, listed, prepare)
    assert_older_is_named_only_where_there_is_more(owner, listed, prepare)
    prepare()
    page = list_page(listed[0], make_account(), Window(40))
    assert (page.items, page.older, page.newer) == ([], None, None)


def assert_pages_below_and_after_any_bound(owner, listed, prepare):
    edge_list, members = listed
    for limit, bound in product(LIMITS, [None, *BOUNDS]):
        for asked in {(bound, None, None), (None, bound, None), (None, None, bound)}:
            prepare()
            page = list_page(edge_list, owner, window(limit, *asked))
            assert page.items == expected(members, limit, *asked), (limit, asked)


def assert_pages_between_two_bounds(owner, listed, prepare):
    edge_list, members = listed
    for below, above in product(BOUNDS[::2], BOUNDS):
        prepare()
        page = list_page(edge_list, owner, window(5, below, above, None))
        assert page.items == expected(members, 5, below, above), (below, above)


def assert_paging_down_shows_everybody_once_and_ends(owner, listed, prepare):
    edge_list, members = listed
    for limit in LIMITS:
        shown, cursor = [], None
        while True:
            prepare()
            page = list_page(edge_list, owner, Window(limit, max_id=cursor))
            assert len(page.items) == min(limit, len(members) - len(shown)), limit
            shown += page.items
            if page.older is None:
                break
            cursor = page.older
        assert shown == members, limit


def assert_paging_up_shows_everybody_once_and_ends(owner, listed, prepare):
    edge_list, members = listed
    for limit in LIMITS:
        shown, cursor = [], encode_cursor(ListedAccount(0, 0))
        prepare()
        while (page := list_page(edge_list, owner, Window(limit, min_id=cursor))).items:
            shown = [*page.items, *shown]
            cursor = page.newer
            prepare()
        assert shown == members, limit


def assert_older_is_named_only_where_there_is_more(owner, listed, prepare):
    edge_list, members = listed
    for limit in LIMITS:
        prepare()
        page = list_page(edge_list, owner, Window(limit))
        assert (page.older is not None) == (limit < len(members))
        assert page.newer == encode_cursor(members[0])


def test_first_readers_at_once_all_see_the_whole_list(world, listed):
    edge_list, members = listed
    owner_id = make_account()
    write_list(edge_list, owner_id, OPEN)
    write_edges(edge_list, owner_id, QUIET, Attribute.WHISPER)
    pages = run_together([lambda: list_page(edge_list, owner_id, Window(80)).items] * 12)
    assert pages == [members] * 12
