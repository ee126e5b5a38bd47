"""First pages of following lists that are read very much come from process memory."""

import dataclasses

import pytest

from infra.api.pages import Window
from infra.caching.hot_keys import REPORT_S, HotKeyLimits, HotKeys
from infra.caching.invalidation_log import InvalidationLog
from relations.actions.follow import follow, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from relations.queries.hot_following import FollowingPages
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.clocks import Clock
from tests.redis_away import redis_away
from tests.world import make_accounts

LIMITS = HotKeyLimits(reads_s=100, copy_s=1.0)
READS = 100 * 5 + 1


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def following(clock, world):
    log = InvalidationLog()
    log.read()
    pages = FollowingPages(log, HotKeys(LIMITS, clock, clock))
    tier = dataclasses.replace(FOLLOWING_LIST.tier, first_pages=pages)
    return dataclasses.replace(FOLLOWING_LIST, tier=tier)


@pytest.fixture
def people(world):
    ann, *others = make_accounts(6)
    for other in others:
        follow(ann, other)
    return ann, others


def ids(edge_list, owner_id, limit=40, **bounds):
    return [i.account_id for i in list_page(edge_list, owner_id, Window(limit, **bounds)).items]


def make_hot(following, clock, owner_id, limit=40):
    for _ in range(READS):
        ids(following, owner_id, limit)
    clock.now += REPORT_S
    ids(following, owner_id, limit)


def test_hot_first_page_costs_one_read_of_the_log(people, following, clock):
    ann, others = people
    make_hot(following, clock, ann)
    with count_calls() as calls:
        assert ids(following, ann) == others[::-1]
    assert (calls.round_trips, calls.sql) == (1, {})


def test_pages_of_other_lengths_and_deeper_ones_are_right(people, following, clock):
    ann, others = people
    make_hot(following, clock, ann, limit=2)
    page = list_page(following, ann, Window(2))
    assert [item.account_id for item in page.items] == others[:2:-1]
    assert ids(following, ann, 3) == others[:1:-1]
    assert ids(following, ann, 2, max_id=page.older) == others[2:0:-1]
    assert ids(following, ann, 2, since_id=page.older) == others[:3:-1]


def test_change_made_elsewhere_shows_when_the_copy_is_too_old(people, following, clock):
    ann, others = people
    make_hot(following, clock, ann)
    unfollow(ann, others[0])
    clock.now += LIMITS.copy_s - 0.001
    assert ids(following, ann) == others[::-1]
    clock.now += 0.001
    assert ids(following, ann) == others[:0:-1]


def test_follow_that_became_quiet_elsewhere_leaves_the_copy_at_once(people, following, clock):
    ann, others = people
    make_hot(following, clock, ann)
    follow(ann, others[0], FollowOptions(quiet=True))
    assert ids(following, ann) == others[:0:-1]


def test_copy_is_not_used_when_the_log_cannot_be_read(people, following, clock):
    ann, others = people
    make_hot(following, clock, ann)
    with redis_away():
        follow(ann, others[0], FollowOptions(quiet=True))
        assert ids(following, ann) == others[:0:-1]


def test_copy_that_another_thread_stores_meanwhile_is_not_used(
    people, following, clock, monkeypatch
):
    """It may be of before the follow became quiet, and this read has not read the log."""
    ann, others = people
    make_hot(following, clock, ann)
    pages = following.tier.first_pages
    (old,) = [copy.value for copy in pages._copies.values()]
    follow(ann, others[0], FollowOptions(quiet=True))
    pages.forget_all()
    clock.now += 0.001
    split = pages.split

    def split_late(keys):
        pages.store(dict.fromkeys(keys, old), clock.now)
        return split(keys)

    monkeypatch.setattr(pages, "split", split_late)
    assert ids(following, ann) == others[:0:-1]


def test_followers_list_is_never_held(people):
    assert FOLLOWERS_LIST.tier.first_pages is None
    assert FOLLOWING_LIST.tier.first_pages is not None
