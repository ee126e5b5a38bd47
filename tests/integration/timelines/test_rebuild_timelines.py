"""rebuild timelines and purge stale-entries repair timelines while posts come in."""

from functools import partial

import pytest
from django.core.management import CommandError

from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.actions.delete_post import delete_post
from relations.actions.follow import follow
from tests.dying import armed, dying_at
from tests.integration.jobs.outcomes import Outcome
from tests.integration.timelines.broken_timelines import add_below_the_mark, lose, stored
from tests.integration.timelines.homes import first_page, read_to_end
from tests.races import failures, run_together
from tests.world import drain_all, make_accounts, publish
from timelines.jobs.live_timelines import rebuild_timelines
from timelines.queries.difference import find_difference
from timelines.stores.factory import timeline_store
from timelines.verbs import AuditTimelines, RebuildTimelines, VacuumTimelines

PUBLISHERS, POSTS = 3, 6
HEADS = "SELECT count(*) FROM timelines_head"
OLD_HEADS = """
INSERT INTO timelines_head (reader_id, complete_from, following_version, epoch, read_at)
SELECT 4 * n + 1, 0, 1, 1, now() - interval '400 days' FROM generate_series(1, 700) AS n
"""  # accounts of shard1


@pytest.fixture
def home(world):
    """A live reader of two friends. The timeline lacks two posts, and has a deleted post and one of
    an unrelated account.
    """
    me, ann, bob, unrelated = make_accounts(4)
    follow(me, ann)
    follow(me, bob)
    drain_all()
    first_page(me)
    posts = [publish(one) for _ in range(3) for one in (ann, bob)]
    strange = publish(unrelated)
    drain_all()
    expected = [post for post in read_to_end(me) if post != posts[0].public]
    delete_post(posts[0])
    drain_all()
    lose(me, posts[1:3])
    add_below_the_mark(me, strange, 0)
    return me, (ann, bob), posts, strange, expected


def difference(reader_id):
    return find_difference(reader_id, timeline_store().peek([reader_id])[reader_id])


def test_dry_run_names_each_entry_and_writes_nothing(home):
    me, _, posts, strange, _ = home
    before = stored(me)
    outcome = Outcome(RebuildTimelines(), "--all", "--dry-run")
    missing = [f"account {me}: + {p.public} of {p.author_id}: missing" for p in sorted(posts[1:3])]
    stale = [
        f"account {me}: - {p.public} of {p.author_id}: orphaned"
        for p in sorted([posts[0], strange])
    ]
    lines = [*missing, *stale, "4 accounts looked at, 1 would change, 0 failed", ""]
    assert outcome.out == "\n".join(lines)
    assert stored(me) == before


def test_second_run_changes_nothing(home):
    me, _, _, _, expected = home
    assert Outcome(RebuildTimelines(), "--all").out.endswith(
        "4 accounts done, 1 changed, 0 failed\n"
    )
    after = stored(me)
    assert read_to_end(me) == expected
    assert len(timeline_store().peek([me])[me].packed) == len(expected)
    assert Outcome(RebuildTimelines(), "--all").out == "4 accounts done, 0 changed, 0 failed\n"
    assert stored(me) == after


def test_whose_timelines_are_meant_has_to_be_said_once(home):
    me = home[0]
    for words in ([], ["--all", "--account", str(me)], ["--all", "--shard", "shard0"]):
        with pytest.raises(CommandError, match="one of --account"):
            Outcome(RebuildTimelines(), *words)
    assert "1 changed" in Outcome(RebuildTimelines(), "--account", str(me)).out


def test_readable_at_every_step(home):
    """A reader in the middle of it is served from the live timeline, and what is pushed stays."""
    me, (ann, _), _, _, expected = home
    seen = []

    def look():
        late = publish(ann)
        drain_all()
        seen.append((timeline_store().peek([me]).keys(), read_to_end(me), late.public))

    with armed("timeline.holes_filled", look):
        Outcome(RebuildTimelines(), "--account", str(me))
    [(live, page, late)] = seen
    assert live == {me}
    assert page == sorted([late, *expected], reverse=True)
    assert read_to_end(me) == page
    assert not difference(me)


def test_no_hole_while_threads_publish_and_drain(home):
    me, friends, _, _, expected = home

    def publish_and_drain(author):
        posts = []
        for _ in range(POSTS):
            posts.append(publish(author).public)
            drain_all()
        return posts

    def rebuild_again_and_again():
        return [list(rebuild_timelines(Work([shard_of(me)]))) for _ in range(POSTS)]

    calls = [partial(publish_and_drain, friends[n % 2]) for n in range(PUBLISHERS)]
    answers = run_together([rebuild_again_and_again, *calls])
    assert not failures(answers)
    drain_all()
    published = {post for posts in answers[1:] for post in posts}
    assert set(read_to_end(me)) == published | set(expected)
    assert Outcome(RebuildTimelines(), "--all").out.endswith("0 failed\n")
    assert not difference(me)


def test_what_is_not_live_stays_so(home):
    me = home[0]
    timeline_store().drop(me)
    assert Outcome(RebuildTimelines(), "--all").out == "4 accounts done, 0 changed, 0 failed\n"
    assert stored(me) is None
    timeline_store().begin_build(me, 1)
    before = stored(me)
    assert Outcome(RebuildTimelines(), "--all").out == "4 accounts done, 0 changed, 0 failed\n"
    assert stored(me) == before


def test_limit_and_resume_go_through_everybody_once(home):
    me = home[0]
    for _ in range(4):
        Outcome(RebuildTimelines(), "--all", "--limit", "1", "--resume")
    assert not difference(me)


def test_killed_in_its_middle_it_is_right_and_the_next_run_ends_it(home):
    me, _, _, _, expected = home
    with dying_at("timeline.holes_filled"):
        list(rebuild_timelines(Work([shard_of(me)])))
    assert read_to_end(me) == expected
    assert [len(part) for part in difference(me)[1:4]] == [0, 2, 0]
    Outcome(RebuildTimelines(), "--account", str(me))
    assert not difference(me)


def test_vacuum_takes_out_what_is_dead_where_it_is_much(home):
    """Two of five entries are."""
    me, *_ = home
    before = stored(me)
    assert (
        Outcome(VacuumTimelines(), "--stale-ratio", "0.4").out
        == "4 accounts done, 0 changed, 0 failed\n"
    )
    outcome = Outcome(VacuumTimelines(), "--stale-ratio", "0.39", "--dry-run")
    assert outcome.out == (
        f"account {me}: 2 of 5 entries are stale\n4 accounts looked at, 1 would change, 0 failed\n"
    )
    assert stored(me) == before
    assert "1 changed" in Outcome(VacuumTimelines()).out
    found = difference(me)
    assert (len(found.missing), found.stale) == (2, []), "holes are not its business"
    assert Outcome(AuditTimelines()).code == 1


def test_vacuum_deletes_rows_of_timelines_that_nobody_reads(home):
    """Of a store in rows, with any store chosen."""
    execute("shard1", OLD_HEADS)
    assert Outcome(VacuumTimelines(), "--dry-run").out.endswith("1 would change, 0 failed\n")
    assert fetch_one("shard1", HEADS) == (700,)
    outcome = Outcome(VacuumTimelines(), "--shard", "shard1")
    assert "shard1: 500 expired timelines\nshard1: 200 expired timelines\n" in outcome.out
    assert fetch_one("shard1", HEADS) == (0,)
