"""rebuild counters and audit counters: what they find, mend, and leave alone.

Recounts and rebuilds reach the counts of posts too: a subject is not always an account.
"""

import threading
from functools import partial

import pytest
from django.conf import settings

from counters.cache import account_counts, refresh_account_counts
from counters.changes import CountsRepaired
from counters.jobs.drifting_counts import recount_counters, repair
from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from counters.verbs import AuditCounters, RebuildCountCache, RecountCounters
from infra.caching.client import redis
from infra.caching.values import Versioned
from infra.changes.failpoints import arm, disarm
from infra.changes.models import Change
from infra.jobs.models import JobCheckpoint
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.mark_post import mark_post
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.models import Post
from posts.types import Kind
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.cached_values import write_values
from tests.dying import armed, dying_at
from tests.integration.counters.drifting import lose, spoil
from tests.integration.jobs.outcomes import Outcome
from tests.people import ring
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, day_of, everything_written
from tests.world import drain_all, make_accounts, publish

FOLLOWERS, FOLLOWING, POSTS = CounterKind.FOLLOWERS, CounterKind.FOLLOWING, CounterKind.POSTS


people = ring(12)


@pytest.fixture
def writers(people):
    """Each has a post."""
    for person in people:
        publish(person)
    drain_all()
    return people


def newest_day(author_id: int) -> int:
    return day_of(Post.objects.of(author_id).latest("moment").moment)


def numbers(owner_id: int) -> list[int]:
    """The cached counts of an account, without the day of its newest post."""
    return [*map(int, account_counts.load_many([owner_id])[owner_id].split(b","))][:-1]


def spoil_some(writers) -> list[str]:
    """What a job has to say of it, in any order."""
    ann, bob, eve, *_ = writers
    spoil(ann, FOLLOWERS, +3)
    spoil(bob, POSTS, -1)
    lose(eve)
    return [
        f"account {ann} FOLLOWERS: 4 -> 1",
        f"account {bob} POSTS: 0 -> 1",
        *(f"account {eve} {kind}: 0 -> 1" for kind in ("FOLLOWERS", "FOLLOWING", "POSTS")),
        f"account {eve} NEWEST_POST_DAY: 0 -> {newest_day(eve)}",
    ]


def test_recount_mends_what_differs_and_says_so(writers):
    lines = spoil_some(writers)
    outcome = Outcome(RecountCounters(), "--batch-size", "2")
    *said, result = outcome.out.splitlines()
    assert sorted(said) == sorted(lines)
    assert (outcome.code, result) == (0, "12 accounts done, 6 changed, 0 failed")
    assert_drained_truth()
    assert Outcome(RecountCounters()).out == "12 accounts done, 0 changed, 0 failed\n"


def test_dry_run_says_the_same_and_writes_nothing(writers):
    lines = spoil_some(writers)
    before = everything_written()
    outcome = Outcome(RecountCounters(), "--dry-run")
    assert sorted(outcome.out.splitlines()[:-1]) == sorted(lines)
    assert everything_written() == before


def test_audit_ends_with_1_and_writes_nothing(writers):
    assert Outcome(AuditCounters()).code == 0
    lines = spoil_some(writers)
    before = everything_written()
    outcome = Outcome(AuditCounters())
    assert outcome.code == 1
    *said, result = outcome.out.splitlines()
    assert sorted(said) == sorted(lines)
    assert result == "9 accounts done, 3 failed"
    assert everything_written() == before


def test_account_chosen_alone_is_mended_alone(writers):
    spoil_some(writers)
    outcome = Outcome(RecountCounters(), "--account", str(writers[0]))
    assert outcome.out.endswith("1 accounts done, 1 changed, 0 failed\n")
    assert Outcome(AuditCounters()).code == 1


def test_limit_and_resume_go_through_everybody_once(writers):
    spoil_some(writers)
    done = [Outcome(RecountCounters(), "--limit", "5", "--resume").out for _ in range(3)]
    assert [out.splitlines()[-1].partition(" accounts")[0] for out in done] == ["5", "5", "2"]
    assert not JobCheckpoint.objects.exists()
    assert_drained_truth()


def test_cached_counts_follow(writers):
    ann = writers[0]
    spoil(ann, FOLLOWERS, +3)
    refresh_account_counts([ann])
    assert numbers(ann) == [4, 1, 1, 0, 0]
    Outcome(RecountCounters())
    assert numbers(ann) == [1, 1, 1, 0, 0]


def test_caches_follow_also_when_a_recount_dies_behind_its_commit(writers, monkeypatch):
    """It mended the row; without a change the entry would be wrong until it expires."""
    ann = writers[0]
    spoil(ann, FOLLOWERS, +3)
    refresh_account_counts([ann])
    assert numbers(ann) == [4, 1, 1, 0, 0]
    monkeypatch.setattr("infra.changes.append.run_inline", lambda *_: None)
    repair(shard_of(ann), ann)
    assert Change.objects.on(shard_of(ann)).get().kind == CountsRepaired.kind
    drain_all()
    assert numbers(ann) == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("place", ["counters.drift_found", "counters.repaired"])
def test_recount_that_dies_has_done_nothing(writers, place):
    ann = writers[0]
    spoil(ann, FOLLOWERS, +3)
    before = everything_written()

    with dying_at(place):
        repair(shard_of(ann), ann)
    assert everything_written() == before


def test_recounts_of_one_account_at_once_mend_it_once(writers):
    """Both would find what it lacks, and both would add it."""
    ann = writers[0]
    spoil(ann, FOLLOWERS, +3)
    both_found = threading.Barrier(2)

    def wait_for_the_other() -> None:
        try:
            both_found.wait(0.5)
        except threading.BrokenBarrierError:
            both_found.reset()

    with armed("counters.drift_found", wait_for_the_other):
        answers = run_together([partial(repair, shard_of(ann), ann)] * 2)
    assert failures(answers) == []
    assert sorted(map(len, answers)) == [0, 1]
    assert_drained_truth()


def test_follow_between_finding_and_mending_is_not_lost(writers):
    """What was counted is one short by then; what the count lacks is still the same."""
    *_, joe = writers
    spoil(joe, FOLLOWING, +5)
    followed = []

    def follow_meanwhile() -> None:
        disarm("counters.drift_found")
        followed.extend(run_together([partial(follow, joe, writers[4])]))

    arm("counters.drift_found", follow_meanwhile)
    repair(shard_of(joe), joe)
    assert followed == [True]
    assert load_counts([joe])[joe][FOLLOWING].value == 2
    drain_all()
    assert_drained_truth()


def test_recount_beside_writers_ends_exact(writers):
    ann, *others = writers

    def live(one: int) -> None:
        for other in others:
            if other != one:
                follow(one, other)

    def wreck_and_recount() -> None:
        for _ in range(5):
            spoil(ann, FOLLOWERS, +7)
            list(recount_counters(Work(settings.SHARD_ALIASES, batch_size=3)))

    calls = [partial(live, one) for one in others[:4]] + [wreck_and_recount, drain_all]
    assert failures(run_together(calls)) == []
    drain_all()
    assert_drained_truth()


SPOIL = "UPDATE counters_counter SET value = 9 WHERE owner_id = %s AND subject = %s AND kind = %s"


@pytest.fixture
def post(world):
    """A post with two favourites, whose counts are cached."""
    ann, *others = make_accounts(3)
    post = publish(ann)
    for other in others:
        mark_post(other, post, Kind.FAVOURITE, True)
    drain_all()
    assert shown(post) == b"0,0,2,0"
    return post


def shown(post) -> bytes:
    return post_counts.load_many([number_of(post)])[number_of(post)]


def test_count_of_a_post_is_mended_and_shown_right(post):
    where = (post.author_id, post.moment, int(CounterKind.FAVOURITES))
    assert execute(shard_of(post.author_id), SPOIL, where) == 1
    line = f"account {post.author_id}/{post.moment} FAVOURITES: 9 -> 2"
    assert Outcome(RecountCounters()).out.splitlines()[0] == line
    assert Outcome(RecountCounters()).out.endswith(" 0 changed, 0 failed\n")
    assert shown(post) == b"0,0,2,0"


def test_cached_counts_of_a_post_are_laid_anew(post):
    write_values(post_counts, {number_of(post): Versioned(99, b"7,7,7,7")})
    assert shown(post) == b"7,7,7,7"
    key = post_counts.key(number_of(post)).decode()
    assert Outcome(RebuildCountCache()).out.splitlines()[0] == f"{key}: 7,7,7,7 -> 0,0,2,0"
    assert shown(post) == b"0,0,2,0"


def test_all_counts_of_many_posts_are_one_round_trip_when_warm_else_a_query_a_shard(world):
    posts = [publish(author) for author in make_accounts(20)]
    drain_all()
    redis().call("FLUSHDB")
    with count_calls() as cold:
        found = post_counts.load_many(map(number_of, posts))
    assert (set(cold.sql.values()), found) == ({1}, {number_of(p): b"0,0,0,0" for p in posts})
    with count_calls() as warm:
        assert post_counts.load_many(map(number_of, posts)) == found
    assert (warm.sql.total(), warm.round_trips) == (0, 1)
