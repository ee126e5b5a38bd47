"""Following lists of big accounts come whole from process memory, hot or not (R11)."""

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from accounts.queries.load import load_account_json
from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.single import SingleClient
from relations.actions.follow import follow, unfollow
from relations.cache import FOLLOWING, QUIET, member_of
from relations.queries import big_following
from relations.queries.big_following import MOST_MEMBERS, OpenFollowing, find_big_following
from relations.queries.edge_lists import FOLLOWING_LIST, ListReads, cut_page, list_page
from relations.types import FollowOptions, ListedAccount
from relations.verbs import RebuildRelationCaches
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.integration.jobs.outcomes import Outcome
from tests.redis_away import redis_away
from tests.world import make_accounts

ACCOUNTS = "/api/v1/accounts"
QUIETLY = FollowOptions(quiet=True)
FANS = 2


@pytest.fixture
def big(world, drain, monkeypatch):
    """Ann has FANS followers, which is enough, and follows five accounts, one of them quietly."""
    monkeypatch.setattr("relations.queries.big_following.BIG_FOLLOWERS", FANS)
    ann, *others = make_accounts(9)
    for other in others[:5]:
        follow(ann, other, QUIETLY if other == others[2] else FollowOptions())
    for fan in others[5 : 5 + FANS]:
        follow(fan, ann)
    drain()
    load_account_json([ann, *others])  # caches profiles and counts
    return ann, others


def shown(account_id, **query):
    more = "&".join(f"{name}={value}" for name, value in query.items())
    return list(map(int, ids_of(Client().get(f"{ACCOUNTS}/{account_id}/following?{more}"))))


def in_memory(account_id):
    return big_following._lists.has(account_id)


@pytest.fixture
def commands(monkeypatch):
    """All that Redis is sent, as text."""
    sent, run = [], SingleClient.run

    def recorded(self, commands):
        commands = list(commands)
        sent.extend(map(str, commands))
        return run(self, commands)

    monkeypatch.setattr(SingleClient, "run", recorded)
    return sent


def test_list_in_memory_costs_no_command_and_no_trip(big, commands):
    ann, (a, b, _, d, e, *_) = big
    assert shown(ann) == [e, d, b, a]
    for query in ({}, {"limit": 2}, {"limit": 1}):
        commands.clear()
        with count_calls() as calls:
            assert shown(ann, **query) == [e, d, b, a][: query.get("limit", 9)]
        # The account itself with the validators of its list, and the accounts on the page.
        assert (calls.sql.total(), calls.round_trips) == (0, 2)
        lists = (FOLLOWING.key(ann).decode(), QUIET.key(ann).decode())
        assert not [one for one in commands if any(name in one for name in lists)]


def test_list_that_redis_lacks_is_loaded_once(big):
    ann, (a, b, _, d, e, *_) = big
    redis().run([("DEL", FOLLOWING.key(ann)), ("DEL", QUIET.key(ann))])
    with count_calls() as calls:
        assert shown(ann) == [e, d, b, a]
    assert calls.sql.total() == 2
    redis().run([("DEL", FOLLOWING.key(ann)), ("DEL", QUIET.key(ann))])
    with count_calls() as calls:
        assert shown(ann) == [e, d, b, a]
    assert (calls.sql.total(), calls.round_trips) == (0, 2)


def test_pages_forwards_and_backwards(big):
    ann, (a, b, _, d, e, *_) = big
    first = Client().get(f"{ACCOUNTS}/{ann}/following?limit=3")
    second = Client().get(next_link(first))
    assert [*ids_of(first), *ids_of(second)] == [str(one) for one in (e, d, b, a)]
    assert in_memory(ann)
    assert next_link(second) is None


def test_small_account_is_not_in_memory(big, monkeypatch):
    ann, (a, b, _, d, e, *_) = big
    monkeypatch.setattr("relations.queries.big_following.BIG_FOLLOWERS", FANS + 1)
    for _ in range(2):
        with count_calls() as calls:
            assert shown(ann) == [e, d, b, a]
    assert (calls.sql.total(), calls.round_trips) == (0, 3)
    assert not in_memory(ann)


def test_own_list_has_the_quiet_follow_and_that_of_others_has_not(big):
    ann, others = big
    shown(ann)
    own = ids_of(Caller(ann).get(f"{ACCOUNTS}/{ann}/following"))
    assert str(others[2]) in own
    assert others[2] not in shown(ann)


def test_change_during_the_load_shows_at_the_next_read(big, monkeypatch):
    """The list is kept under a validator that the change has ended by then."""
    ann, (a, b, _, d, e, *_) = big
    keep = big_following._lists.keep

    def change_and_keep(*values):
        monkeypatch.undo()
        unfollow(ann, e)
        keep(*values)

    monkeypatch.setattr(big_following._lists, "keep", change_and_keep)
    find_big_following(ann)
    assert in_memory(ann)
    monkeypatch.setattr(big_following, "BIG_FOLLOWERS", FANS)
    assert shown(ann) == [d, b, a]


def test_without_redis_the_shard_answers(big):
    ann, (a, b, _, d, e, *_) = big
    shown(ann)
    with redis_away():
        assert find_big_following(ann) is None
        assert shown(ann) == [e, d, b, a]
    assert shown(ann) == [e, d, b, a]


def test_repair_of_the_cached_list_ends_the_copy(big):
    ann, (a, b, _, d, e, *_) = big
    list_page(FOLLOWING_LIST, ann, Window(40))  # Redis has the list
    redis().call("ZREM", FOLLOWING.key(ann), member_of(e))
    assert shown(ann) == [d, b, a]
    Outcome(RebuildRelationCaches())
    assert shown(ann) == [e, d, b, a]


def test_memory_is_bounded():
    assert big_following._lists._copies.maxsize == MOST_MEMBERS
    members = [ListedAccount(2**41 + n, 2**31 - n) for n in range(2_000)]
    whole = OpenFollowing(members)
    assert whole._since_ms.itemsize + whole._account_ids.itemsize == 16
    assert whole.below(None, 2_000) == members
    assert big_following._weigh(whole) > len(whole) == 2_000


ITEMS = st.sets(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=12)


@given(ITEMS, st.none() | st.tuples(st.integers(0, 7), st.integers(0, 7)), st.integers(1, 5))
def test_parts_are_those_of_a_plain_list(items, bound, limit):
    members = sorted((ListedAccount(*item) for item in items), reverse=True)
    whole = OpenFollowing(members)
    start = None if bound is None else ListedAccount(*bound)
    assert whole.below(start, limit) == [m for m in members if start is None or m < start][:limit]
    if start is not None:
        assert whole.above(start, limit) == [m for m in members if m > start][-limit:]


def test_pages_are_those_of_the_list_in_redis(big):
    ann, _ = big
    whole = find_big_following(ann)
    newest = list_page(FOLLOWING_LIST, ann, Window(40))
    cursors = [newest.newer, list_page(FOLLOWING_LIST, ann, Window(2)).older]
    windows = [Window(limit) for limit in (1, 3, 40)]
    for name in ("max_id", "min_id", "since_id"):
        windows += [Window(limit, **{name: c}) for c in cursors for limit in (1, 2, 40)]
    for window in windows:
        page = list_page(FOLLOWING_LIST, ann, window)
        assert cut_page(window, ListReads(whole.below, whole.above)) == page, window
