"""The cost of edge lists; a cached list never shows less or more than the rows."""

import pytest

from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.quotas import Quotas
from infra.caching.single import SingleClient
from relations.actions import mirror
from relations.actions.follow import follow, unfollow
from relations.cache import FOLLOWERS, FOLLOWING
from relations.queries import loaders
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from relations.queries.following import load_following
from tests.budgets import count_calls
from tests.integration.relations.edge_rows import cut
from tests.world import make_accounts

CUT = 4


def members(edge_list, owner_id: int, limit: int = 80, **bounds: str) -> list[int]:
    page = list_page(edge_list, owner_id, Window(limit, **bounds))
    return [item.account_id for item in page.items]


def follow_all(fans: list[int], followee_id: int) -> None:
    for since_ms, fan in enumerate(fans, 1_000):
        follow(fan, followee_id, clock_ms=lambda at=since_ms: at)


@pytest.fixture
def cut_list(monkeypatch):
    """The followers list with room for CUT in Redis."""
    small = cut(FOLLOWERS_LIST, CUT)
    monkeypatch.setattr(mirror, "FOLLOWERS", small.tier.cache)
    # A test in the same second may have left an allotment, which saves the round trip.
    monkeypatch.setattr(loaders, "deep_pages", Quotas(period_s=1))
    return small


def test_followers_list_is_changed_in_place(world, drain):
    bob, *fans = make_accounts(5)
    assert members(FOLLOWERS_LIST, bob) == []
    for fan in fans:
        follow(fan, bob)
        drain()
        with count_calls() as calls:
            assert members(FOLLOWERS_LIST, bob)[0] == fan
        assert calls.sql.total() == 0
    unfollow(fans[1], bob)
    drain()
    with count_calls() as calls:
        assert members(FOLLOWERS_LIST, bob) == [fans[3], fans[2], fans[0]]
    assert calls.sql.total() == 0


def test_following_list_is_changed_in_place_at_once(world):
    ann, *others = make_accounts(5)
    assert members(FOLLOWING_LIST, ann) == []
    for other in others:
        follow(ann, other)
    unfollow(ann, others[2])
    with count_calls() as calls:
        assert members(FOLLOWING_LIST, ann) == [others[3], others[1], others[0]]
    assert calls.sql.total() == 0


def test_following_somebody_again_moves_them_to_the_top(world, drain):
    bob, *fans = make_accounts(4)
    follow_all(fans, bob)
    drain()
    assert members(FOLLOWERS_LIST, bob) == fans[::-1]
    unfollow(fans[0], bob)
    follow(fans[0], bob)
    drain()
    with count_calls() as calls:
        assert members(FOLLOWERS_LIST, bob) == [fans[0], fans[2], fans[1]]
    assert calls.sql.total() == 0


def test_list_past_its_room_keeps_the_newest_and_asks_the_shard_for_the_rest(
    world, drain, cut_list
):
    bob, *fans = make_accounts(CUT + 4)
    follow_all(fans[: CUT - 1], bob)
    drain()
    assert members(cut_list, bob) == fans[: CUT - 1][::-1]
    follow_all(fans, bob)
    drain()
    newest = fans[::-1]
    with count_calls() as calls:
        assert members(cut_list, bob, CUT - 1) == newest[: CUT - 1]
    assert calls.sql.total() == 0
    with count_calls() as calls:
        assert members(cut_list, bob) == newest
    assert (calls.sql.total(), calls.round_trips) == (1, 2)  # one of them to be admitted
    size = redis().call("ZCARD", FOLLOWERS.key(bob))
    assert size == CUT + 1  # and the version marker


def test_unfollow_below_the_cut_leaves_the_cached_part(world, drain, cut_list):
    bob, *fans = make_accounts(CUT + 4)
    follow_all(fans, bob)
    drain()
    members(cut_list, bob)
    unfollow(fans[0], bob)
    drain()
    with count_calls() as calls:
        assert members(cut_list, bob, CUT - 1) == fans[:-CUT:-1]
    assert calls.sql.total() == 0
    assert members(cut_list, bob) == fans[:0:-1]


def test_follow_of_long_ago_that_comes_late_goes_to_its_place(world, drain, cut_list):
    """Another shard's drain may be minutes behind; followers older than the cut stay out of it."""
    bob, *fans = make_accounts(CUT + 4)
    follow_all(fans, bob)
    drain()
    members(cut_list, bob)
    late, old = make_accounts(2)
    newest = fans[::-1]
    follow(old, bob, clock_ms=lambda: 1)
    follow(late, bob, clock_ms=lambda: 1_000 + len(fans) - 2)
    drain()
    assert members(cut_list, bob, 3) == [newest[0], *sorted([newest[1], late], reverse=True)]
    assert members(cut_list, bob) == [newest[0], late, *newest[1:], old]


def test_slow_loader_cannot_lay_what_it_read_before_a_follow(world, monkeypatch):
    ann, bob, eve = make_accounts(3)
    follow(ann, bob)
    redis().call("DEL", FOLLOWING.key(ann))
    read_follows = loaders.read_follows

    def read_then_be_late(*args):
        monkeypatch.setattr(loaders, "read_follows", read_follows)
        rows = read_follows(*args)
        follow(ann, eve)
        return rows

    monkeypatch.setattr(loaders, "read_follows", read_then_be_late)
    assert members(FOLLOWING_LIST, ann) == [bob]  # what was true when it was asked
    assert members(FOLLOWING_LIST, ann) == [eve, bob]


@pytest.fixture
def dropped_midway(monkeypatch):
    """Call it with a key: another client drops it after the first command of the next trip."""

    def arm(key: bytes) -> None:
        run = SingleClient.run

        def interrupted(self, commands):
            monkeypatch.setattr(SingleClient, "run", run)
            first = run(self, commands[:1])
            run(self, [("DEL", key)])
            return first + (run(self, commands[1:]) if commands[1:] else [])

        monkeypatch.setattr(SingleClient, "run", interrupted)

    return arm


def test_list_dropped_while_it_is_read_does_not_look_empty(world, drain, dropped_midway):
    ann, *others = make_accounts(4)
    for other in others:
        follow(ann, other)
    members(FOLLOWING_LIST, ann)
    dropped_midway(FOLLOWING.key(ann))
    assert members(FOLLOWING_LIST, ann) == others[::-1]
    dropped_midway(FOLLOWING.key(ann))
    assert load_following(ann).followee_ids == others[::-1]


def test_loaded_following_carries_the_version_of_its_count(world):
    ann, *others = make_accounts(4)
    for other in others:
        follow(ann, other)
        for _ in ("cold or changed in place", "warm"):
            following = load_following(ann)
            count = load_counts([ann])[ann][CounterKind.FOLLOWING]
            assert following.version == count.version
            assert len(following.followee_ids) == count.value
