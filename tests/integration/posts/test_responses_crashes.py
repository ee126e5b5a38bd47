"""Crashes between a response and its delivery. The drain alone repairs them."""

import pytest
from django.db import DataError

from infra.caching.client import redis
from infra.changes.append import ChangeColumns
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.changes import PostCreated
from posts.ids import PostId
from posts.types import Kind
from tests.callers import Caller
from tests.dying import Killed, die, dying_at
from tests.people import cast
from tests.truth import assert_drained_truth, everything_written
from tests.truth import post_counts as counts_in_rows
from tests.world import drain_all, publish

AT_ONCE = "infra.changes.append.inline_consumers_of"


people = cast(2)


@pytest.fixture
def original(people):
    post = publish(people[0])
    drain_all()
    return post


def cached(post_id: PostId) -> bytes:
    return post_counts.load_many([number_of(post_id)])[number_of(post_id)]


def seen(person: int, post_id: PostId) -> dict[str, object]:
    return Caller(person).get(f"/api/v1/statuses/{post_id.public}").json()


def test_dying_after_the_rows_leaves_the_counts_to_the_next_drain(people, original):
    assert cached(original) == b"0,0,0,0"
    repost(people[1], original)
    mark_post(people[1], original, Kind.FAVOURITE, True)
    with dying_at("posts.responses_recorded"):
        drain_all()
    assert sum(counts_in_rows().values()) == 2, "the rows are there"
    assert cached(original) == b"0,0,0,0", "the cache was not reached"
    drain_all()
    assert cached(original) == b"0,1,1,0"
    assert_drained_truth()


def test_dying_right_after_the_commit_leaves_nothing_behind(people, original, monkeypatch):
    """No at-once consumer has run: flags, timelines and counts come by the drain."""
    assert not seen(people[1], original)["reblogged"]
    with monkeypatch.context() as patch:
        patch.setattr(AT_ONCE, lambda kinds: [die])
        with pytest.raises(Killed):
            repost(people[1], original)
        with pytest.raises(Killed):
            mark_post(people[1], original, Kind.BOOKMARK, True)
    drain_all()
    shown = seen(people[1], original)
    assert (shown["reblogged"], shown["bookmarked"], shown["reblogs_count"]) == (True, True, 1)
    assert_drained_truth()


def test_an_error_at_the_last_step_leaves_no_repost(people, original, monkeypatch):
    """The change row is written last. Its lane is no smallint here."""
    before = everything_written()
    with monkeypatch.context() as patch:
        columns = ChangeColumns(1 << 20, PostCreated.kind, "{}")
        patch.setattr("posts.actions.insert_post.change_columns", lambda *_: columns)
        with pytest.raises(DataError):
            repost(people[1], original)
    assert everything_written() == before


def test_a_flush_between_act_and_drain_costs_only_time(people, original):
    repost(people[1], original)
    redis().call("FLUSHDB")
    assert seen(people[1], original)["reblogged"]
    drain_all()
    redis().call("FLUSHDB")
    undo_repost(people[1], original)
    redis().call("FLUSHDB")
    assert not seen(people[1], original)["reblogged"]
    drain_all()
    assert seen(people[0], original)["reblogs_count"] == 0
    assert_drained_truth()
