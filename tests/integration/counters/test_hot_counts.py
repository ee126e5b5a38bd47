"""The moves of a count that is written very often are postponed: its row is written once."""

from functools import partial

import pytest

from counters.hot_counts import HOT_WRITES_S, find_hot_counts
from counters.jobs.drifting_counts import repair
from counters.kinds import POST_KINDS, CounterKind
from counters.models import PostponedMove
from counters.queries.counts import load_counts
from counters.queries.drift import find_drift
from counters.types import ACCOUNT, Count
from infra.api.pages import Window
from infra.changes.compensate import drain
from infra.changes.lanes import LaneGroup, all_lanes
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from posts.actions.mark_post import mark_post
from posts.cache.counts import load_post_counts
from posts.queries.lists import list_responders
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, list_page
from tests.dying import dying_at
from tests.races import failures, run_together
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_accounts, publish


def heat(account_id: int) -> None:
    """As if many accounts had just followed this one."""
    for _ in range(HOT_WRITES_S + 1):
        find_hot_counts([(account_id, ACCOUNT)])


def followers(account_id: int):
    return load_counts([account_id])[account_id][CounterKind.FOLLOWERS]


def listed(account_id: int) -> list[int]:
    return [one.account_id for one in list_page(FOLLOWERS_LIST, account_id, Window(80)).items]


def deliver() -> None:
    """Without the folded lane, which adds postponed moves up."""
    for alias in all_aliases():
        for lane in all_lanes([LaneGroup.ORDINARY]):
            drain(alias, lane)


def postponed(account_id: int) -> int:
    return PostponedMove.objects.of(account_id).count()


@pytest.fixture
def star_and_fans(world):
    """An account whose followers count is hot, and others."""
    star, *fans = make_accounts(12)
    follow(fans[0], star)
    drain_all()
    heat(star)
    return star, fans


def test_count_is_hot_after_many_writes_of_it_and_of_no_other(world):
    star, other = make_accounts(2)
    for _ in range(HOT_WRITES_S - 1):
        assert not find_hot_counts([(star, ACCOUNT)])
    for _ in range(3):
        hot = find_hot_counts([(star, ACCOUNT), (other, ACCOUNT)])
    assert (star, ACCOUNT) in hot
    assert (other, ACCOUNT) not in hot
    assert find_hot_counts([(star, ACCOUNT)])


def test_followers_of_a_hot_account_are_listed_at_once_and_counted_in_one_write(star_and_fans):
    star, fans = star_and_fans
    listed(star)
    before = followers(star)
    for fan in fans[1:]:
        follow(fan, star)
        deliver()
        assert listed(star)[0] == fan
    assert followers(star) == before
    assert postponed(star) == len(fans) - 1
    drain_all()
    after = followers(star)
    assert after.value == len(fans)
    assert after.version == before.version + 1
    assert sorted(listed(star)) == sorted(fans)
    assert_drained_truth()


def test_postponed_moves_are_no_drift_and_a_recount_adds_nothing(star_and_fans):
    star, fans = star_and_fans
    follow(fans[1], star)
    deliver()
    assert find_drift(shard_of(star), [star]) == []
    assert repair(shard_of(star), star) == []
    drain_all()
    assert_drained_truth()


def test_count_that_is_hot_no_more_waits_for_its_postponed_moves(star_and_fans, monkeypatch):
    """The only follower of the count left before the count had it."""
    star, fans = star_and_fans
    unfollow(fans[0], star)
    follow(fans[1], star)
    deliver()
    monkeypatch.setattr("relations.consumers.find_hot_counts", lambda *_: set())
    unfollow(fans[1], star)
    deliver()
    assert postponed(star) > 0
    drain_all()
    assert followers(star).value == 0
    assert_drained_truth()


@pytest.mark.parametrize("place", ["relations.folded", "relations.mirrored"])
def test_death_between_rows_and_caches_is_repaired_by_the_drain(star_and_fans, place):
    star, fans = star_and_fans
    listed(star)
    with dying_at(place):
        follow(fans[1], star)
        drain_all()
    drain_all()
    assert sorted(listed(star)) == sorted(fans[:2])
    assert_drained_truth()


def test_many_at_once_follow_unfollow_and_are_blocked(star_and_fans):
    star, fans = star_and_fans
    for fan in fans[1:6]:
        follow(fan, star)
    calls = [partial(unfollow, fan, star) for fan in fans[1:4]]
    calls += [partial(follow, fan, star) for fan in fans[6:]]
    calls += [partial(block, star, fan) for fan in fans[4:8]]
    calls += [drain_all] * 2
    answers = run_together(calls)
    refused = [one for one in failures(answers) if "Blocked" not in type(one).__name__]
    assert refused == []
    drain_all()
    assert_drained_truth()
    assert not set(listed(star)) & {*fans[1:8]}


def test_favourites_of_a_hot_post_are_listed_at_once_and_counted_in_one_write(world):
    author, *fans = make_accounts(6)
    post = publish(author)
    for _ in range(HOT_WRITES_S + 1):
        find_hot_counts([(author, post.moment)])
    for fan in fans:
        mark_post(fan, post, Kind.FAVOURITE, True)
    deliver()
    mark_post(fans[0], post, Kind.FAVOURITE, False)
    deliver()
    kind = CounterKind.FAVOURITES
    rows, _, _ = list_responders(post, Kind.FAVOURITE, None, Window(40))
    assert len(rows) == len(fans) - 1
    assert load_post_counts([post])[post][POST_KINDS.index(kind)] == Count(0, 0)
    drain_all()
    assert load_post_counts([post])[post][POST_KINDS.index(kind)] == Count(len(fans) - 1, 1)
    assert_drained_truth()
