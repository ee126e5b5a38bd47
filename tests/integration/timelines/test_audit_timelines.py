"""audit timelines finds and repairs missing entries, and nothing that only looks missing."""

import pytest
from django.core.management import CommandError

from infra.caching.client import redis
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.dying import dying_at
from tests.integration.jobs.outcomes import Outcome
from tests.integration.timelines.broken_timelines import (
    add_below_the_mark,
    lose,
    lose_entries,
    promise_all,
    stored,
)
from tests.integration.timelines.homes import first_page, read_to_end
from tests.world import drain_all, make_accounts, publish
from timelines.hot.actions.heat import heat_author
from timelines.hot.directory import HotAuthors
from timelines.jobs.live_timelines import audit_timelines
from timelines.queries import difference
from timelines.queries.difference import find_difference
from timelines.stores.factory import timeline_store
from timelines.types import Entry
from timelines.verbs import AuditTimelines

PARK = "UPDATE changes_change SET state = 1"


@pytest.fixture
def home(world):
    """A live reader of two friends on other shards, who have three posts each."""
    me, *friends = make_accounts(3)
    for friend in friends:
        follow(me, friend)
    drain_all()
    first_page(me)
    posts = [publish(friend) for _ in range(3) for friend in friends]
    drain_all()
    assert len(first_page(me)) == 6
    return me, friends, posts


def audited(*words):
    return Outcome(AuditTimelines(), *words)


def test_whole_timelines_are_in_order(home):
    assert audited().out == "3 accounts done, 0 failed\n"


def test_hole_is_found_named_and_mended(home):
    me, _, posts = home
    before = read_to_end(me)
    lose(me, posts[1:3])
    assert read_to_end(me) != before, "it is a hole that readers see"
    outcome = audited()
    assert outcome.code == 1
    assert outcome.out == (
        f"account {me}: 2 missing, 0 orphaned, 0 below the mark\n2 accounts done, 1 failed\n"
    )
    assert audited("--repair").out == (
        f"account {me}: 2 missing, 0 orphaned, 0 below the mark: repaired\n"
        "3 accounts done, 1 changed, 0 failed\n"
    )
    assert read_to_end(me) == before
    assert audited().code == 0


def test_dry_run_of_a_repair_writes_nothing(home):
    me, _, posts = home
    lose(me, posts[:1])
    before = stored(me)
    outcome = audited("--repair", "--dry-run")
    assert outcome.out == (
        f"account {me}: 1 missing, 0 orphaned, 0 below the mark\n"
        "3 accounts looked at, 1 would change, 0 failed\n"
    )
    assert stored(me) == before


def test_lost_repost_is_a_hole(home):
    me, (ann, _), posts = home
    event = repost(ann, posts[1], clock_s=lambda: posts[-1].posted_at_s + 5)
    drain_all()
    before = first_page(me)
    assert before[0] == event.public
    lose_entries(me, [Entry(event, posts[1])])
    assert first_page(me) != before
    assert audited("--repair").code == 0
    assert first_page(me) == before


def test_what_the_drain_has_yet_to_bring_is_no_hole(home):
    _, friends, _ = home
    publish(friends[0])
    assert audited().code == 0
    drain_all()
    assert audited().code == 0


def test_what_was_parked_is_a_hole(home):
    """No pending change will bring the entry."""
    _, (ann, _), _ = home
    publish(ann)
    execute(shard_of(ann), PARK)
    assert audited().code == 1


def test_post_that_arrives_between_the_two_looks_is_no_hole(home):
    """Committed after the timeline was read, delivered before the changes were read."""
    me, friends, _ = home
    seen = timeline_store().peek([me])[me]
    publish(friends[0])
    drain_all()
    found = find_difference(me, seen)
    assert found is not None
    assert not found


@pytest.mark.parametrize("is_drained", [True, False])
def test_reader_whose_following_changes_is_left_alone(home, is_drained):
    me, _, posts = home
    lose(me, posts[:1])
    seen = timeline_store().peek([me])[me]
    (unrelated,) = make_accounts(1)
    publish(unrelated)
    follow(me, unrelated)
    if is_drained:
        drain_all()
    assert find_difference(me, seen) is None


def test_follow_that_the_drain_has_yet_to_finish_makes_no_holes(home):
    """The post came after the backfill of the request and before the backward edge."""
    me, _, _ = home
    (unrelated,) = make_accounts(1)
    follow(me, unrelated)
    publish(unrelated)
    assert audited().code == 0
    drain_all()
    assert audited().code == 0


def test_dead_entries_and_muted_authors_are_no_fault(home):
    me, (_, bob), posts = home
    delete_post(posts[0])
    mute(me, bob)
    drain_all()
    found = find_difference(me, timeline_store().peek([me])[me])
    assert [entry.event for entry in found.orphaned] == [posts[0]]
    assert found.missing == found.below_mark == []
    assert audited().code == 0


def test_entries_of_whom_one_follows_no_longer_are_stale(home):
    me, (ann, _), posts = home
    before = timeline_store().peek([me])[me]
    unfollow(me, ann)
    drain_all()
    after = timeline_store().peek([me])[me]
    seen = after._replace(data=before.data)
    found = find_difference(me, seen)
    assert [entry.event for entry in found.orphaned] == posts[::2]


def test_entries_below_the_mark_are_beyond(home):
    me, _, posts = home
    mark = posts[-1].second + 1
    add_below_the_mark(me, posts[0], mark)
    found = find_difference(me, timeline_store().peek([me])[me])
    assert [entry.event for entry in found.below_mark] == sorted(posts)
    assert found.missing == found.orphaned == []


def test_timeline_that_promises_more_than_it_could_hold_is_dropped(home, settings):
    me, *_ = home
    settings.TIMELINE_ENTRIES = 2
    timeline_store().drop(me)
    first_page(me)
    settings.TIMELINE_ENTRIES = 1
    promise_all(me)
    before = stored(me)
    assert "and more than it can hold" in audited().out
    assert stored(me) == before
    audited("--repair")
    assert stored(me) is None
    assert len(read_to_end(me)) == 6


def test_nobody_is_kept_alive_by_it(home):
    me, _, posts = home
    redis().call("PEXPIRE", b"timelines.home:v1:{%d}" % me, 50_000)
    lose(me, posts[:1])
    audited("--repair")
    assert redis().call("PTTL", b"timelines.home:v1:{%d}" % me) <= 50_000


def test_share_of_the_timelines_is_drawn(home):
    me, _, posts = home
    lose(me, posts[:1])
    draws = iter([0.5, 0.49])
    work = Work([shard_of(me)])
    assert sum(b.failed for b in audit_timelines(work, 0.5, False, lambda: next(draws))) == 0
    assert sum(b.failed for b in audit_timelines(work, 0.5, False, lambda: next(draws))) == 1


@pytest.mark.parametrize("words", ["0", "1.1", "x", "nan"])
def test_share_that_is_none_is_refused(home, words):
    with pytest.raises(CommandError, match="not a number above 0"):
        audited("--share", words)


def test_cost_of_a_whole_timeline(home):
    me, _, _ = home
    seen = timeline_store().peek([me])[me]
    find_difference(me, seen)
    with count_calls() as calls:
        find_difference(me, seen)
    assert calls.round_trips == 2
    assert max(calls.sql.values()) == 1


def test_killed_between_its_two_steps_the_next_run_ends_it(home):
    me, _, posts = home
    delete_post(posts[0])
    lose(me, posts[1:2])
    drain_all()
    with dying_at("timeline.holes_filled"):
        list(audit_timelines(Work([shard_of(me)]), 1.0, True))
    assert audited().code == 0


@pytest.mark.parametrize("is_known", [True, False])
def test_what_pages_merge_in_is_no_hole(home, monkeypatch, is_known):
    """Also when the author became hot just now and this process has no copy of that yet."""
    me, (ann, bob), posts = home
    heat_author(shard_of(ann), ann)
    publish(ann)
    drain_all()
    if not is_known:
        monkeypatch.setattr(difference, "load_hot_authors", lambda: HotAuthors(None, ()))
    delete_post(posts[0])
    found = find_difference(me, timeline_store().peek([me])[me])
    assert found.missing == []
    assert audited().code == 0
    lose(me, [post for post in posts if post.author_id == bob][:1])
    assert "1 missing" in audited().out


def test_posts_of_hot_authors_do_not_hide_holes_below_them(home, settings):
    me, (ann, bob), posts = home
    settings.TIMELINE_ENTRIES = 3
    heat_author(shard_of(ann), ann)
    lose(me, [post for post in posts if post.author_id == bob][:1])
    for _ in range(8):
        publish(ann)
    drain_all()
    assert "1 missing, 0 orphaned, 0 below the mark" in audited("--repair").out
    assert audited().code == 0


def test_own_posts_of_a_hot_reader_are_pushed(home):
    me, *_ = home
    mine = publish(me)
    heat_author(shard_of(me), me)
    drain_all()
    lose(me, [mine])
    assert audited().code == 1


def test_hole_of_an_author_who_posts_just_now_is_one(home):
    me, friends, posts = home
    lose(me, posts[:1])
    publish(friends[0])
    assert audited("--repair").out.startswith(f"account {me}: 1 missing")
    assert audited().code == 0
