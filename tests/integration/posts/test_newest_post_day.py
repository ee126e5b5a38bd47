"""`last_status_at`: the day of the newest post that is not direct, exact after deletions."""

import time

from counters.jobs.drifting_counts import repair
from counters.queries.drift import find_drift
from infra.changes.failpoints import arm, disarm
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost, undo_repost
from posts.ids import PostId
from posts.types import Draft, Visibility
from tests.callers import Caller
from tests.races import failures, run_together
from tests.truth import assert_drained_truth
from tests.world import make_account, make_accounts

DAY_S = 86_400
NOW_S = time.time()


def day(days_ago: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(NOW_S - days_ago * DAY_S))


def written(author_id: int, days_ago: int, visibility: Visibility = Visibility.PUBLIC) -> PostId:
    draft = Draft("hello", visibility=visibility)
    return create_post(author_id, draft, clock_s=lambda: NOW_S - days_ago * DAY_S)


def shown(account_id: int) -> str | None:
    found: str | None = (
        Caller(make_account()).get(f"/api/v1/accounts/{account_id}").json()["last_status_at"]
    )
    return found


def test_the_day_is_that_of_the_newest_post_that_all_may_know_of(world):
    ann = make_account()
    assert shown(ann) is None
    first = written(ann, 3)
    second = written(ann, 2, Visibility.PRIVATE)
    hidden = written(ann, 1, Visibility.DIRECT)
    assert shown(ann) == day(2)
    delete_post(hidden)
    delete_post(first)
    assert shown(ann) == day(2)
    third = written(ann, 0, Visibility.UNLISTED)
    assert shown(ann) == day(0)
    delete_post(third)
    assert shown(ann) == day(2)
    delete_post(second)
    assert shown(ann) is None
    assert_drained_truth()


def test_a_repost_is_a_post(world):
    ann, bob = make_accounts(2)
    original = written(bob, 5)
    repost(ann, original)
    assert shown(ann) == day(0)
    undo_repost(ann, original)
    assert shown(ann) is None


def test_posts_of_before_count_with_the_next_write_and_with_a_recount(world):
    """Code of before wrote no day. A deletion must not fail because there is none."""
    ann, bob = make_accounts(2)
    for author in (ann, bob):
        written(author, 4)
    newer = written(ann, 3)
    for author in (ann, bob):
        execute(shard_of(author), "DELETE FROM counters_counter WHERE kind = 14")
    delete_post(newer)
    assert shown(ann) == day(4)
    repair(shard_of(bob), bob)
    assert shown(bob) == day(4)
    assert_drained_truth()


def test_a_post_during_a_recount_leaves_the_right_day(world):
    """The post sets the day right, so the difference that the recount found is gone."""
    ann = make_account()
    written(ann, 4)
    alias = shard_of(ann)
    execute(alias, "UPDATE counters_counter SET value = value - 2 WHERE kind = 14")

    def write() -> None:
        disarm("counters.drift_found")
        assert failures(run_together([lambda: written(ann, 1)])) == []

    arm("counters.drift_found", write)
    repair(alias, ann)
    assert find_drift(alias, [ann]) == []
    assert shown(ann) == day(1)
