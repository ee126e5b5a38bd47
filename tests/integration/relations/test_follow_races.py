"""Many at once: the cap holds, no request waits for ever, both sides and counts agree."""

import itertools
import random
from functools import partial

from infra.api.pages import Window
from infra.changes.drain import drain as drain_lane
from infra.changes.lanes import all_lanes
from infra.sharding.shards import all_aliases
from relations.actions.follow import follow, remove_follower, unfollow
from relations.errors import FollowCapReached
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, live_pairs
from tests.world import make_accounts

TOGGLES = 15


def assert_lists_agree(account_ids):
    """The pages equal the rows, cached or not."""
    pairs = live_pairs()
    for account_id in account_ids:
        following, followers = (
            {i.account_id for i in list_page(edge_list, account_id, Window(80)).items}
            for edge_list in (FOLLOWING_LIST, FOLLOWERS_LIST)
        )
        assert following == {b for a, b in pairs if a == account_id}
        assert followers == {a for a, b in pairs if b == account_id}


def test_64_follows_at_one_below_the_cap_let_one_through(world, settings, drain):
    settings.FOLLOW_CAP = 3
    ann, *others = make_accounts(67)
    for other in others[:2]:
        follow(ann, other)
    answers = run_together(partial(follow, ann, other) for other in others[2:])
    assert answers.count(True) == 1
    assert all(isinstance(error, FollowCapReached) for error in failures(answers))
    assert len(live_pairs()) == 3
    drain()
    assert_drained_truth()


def test_one_follow_by_16_at_once_happens_once(world, drain):
    ann, bob = make_accounts(2)
    answers = run_together([partial(follow, ann, bob)] * 16)
    assert sorted(answers) == [False] * 15 + [True]
    drain()
    assert_drained_truth()
    assert_lists_agree([ann, bob])


def test_pairs_that_follow_each_other_at_the_same_moment_both_do(world, drain):
    people = make_accounts(8)
    pairs = [(a, b) for a, b in itertools.permutations(people, 2) if (a + b) % 2]
    answers = run_together(partial(follow, a, b) for a, b in pairs)
    assert answers == [True] * len(pairs)
    assert failures(run_together([drain_everything] * 4)) == []
    drain()
    assert live_pairs() == set(pairs)
    assert_drained_truth()
    assert_lists_agree(people)


def test_toggling_storm_ends_with_both_sides_counts_and_lists_agreeing(world, drain):
    people = make_accounts(5)
    storms = [partial(toggle, random.Random(seed), people) for seed in range(6)]
    answers = run_together([*storms, *[partial(drain_often, 6)] * 3])
    assert failures(answers) == []
    drain()
    assert_drained_truth()
    assert_lists_agree(people)


def test_removing_and_following_at_once_end_the_same_on_both_sides(world, drain):
    bob, *fans = make_accounts(9)
    for fan in fans:
        follow(fan, bob)
    removals = [partial(remove_follower, bob, fan) for fan in fans]
    again = [partial(toggle_pair, fan, bob) for fan in fans]
    assert failures(run_together([*removals, *again, drain_everything])) == []
    drain()
    assert_drained_truth()
    assert_lists_agree([bob, *fans])


def toggle(chance: random.Random, people) -> None:
    for _ in range(TOGGLES):
        a, b = chance.sample(people, 2)
        chance.choice([follow, follow, unfollow, remove_follower])(a, b)
        list_page(FOLLOWERS_LIST, b, Window(3))


def toggle_pair(a: int, b: int) -> None:
    unfollow(a, b)
    follow(a, b)


def drain_everything() -> None:
    for alias, lane in itertools.product(all_aliases(), all_lanes()):
        drain_lane(alias, lane)


def drain_often(times: int) -> None:
    for _ in range(times):
        drain_everything()
