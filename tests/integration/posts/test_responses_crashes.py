"""Crashes between a response and its delivery. The drain alone repairs them.

What is lost of a quote or its revocation by a death, the drain or the audit brings back.
"""

import pytest
from django.db import DataError

from infra.caching.client import redis
from infra.changes.append import ChangeColumns
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.actions.revoke_quote import revoke_quote
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.changes import PostCreated
from posts.ids import PostId
from posts.models import Post
from posts.types import Kind
from posts.verbs import AuditResponses
from tests.callers import Caller
from tests.dying import Killed, die, dying_at
from tests.integration.jobs.lost_rows import at_rest, lose_post
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES, see
from tests.truth import assert_drained_truth, everything_written
from tests.truth import post_counts as counts_in_rows
from tests.world import drain_all, publish

__all__ = ["at_rest"]

AT_ONCE = "infra.changes.append.inline_consumers_of"


@pytest.fixture
def answered(people):
    post = publish(people[0])
    drain_all()
    return post


def cached(post_id: PostId) -> bytes:
    return post_counts.load_many([number_of(post_id)])[number_of(post_id)]


def seen(person: int, post_id: PostId) -> dict[str, object]:
    return Caller(person).get(f"/api/v1/statuses/{post_id.public}").json()


def test_dying_after_the_rows_leaves_the_counts_to_the_next_drain(people, answered):
    assert cached(answered) == b"0,0,0,0"
    repost(people[1], answered)
    mark_post(people[1], answered, Kind.FAVOURITE, True)
    with dying_at("posts.responses_recorded"):
        drain_all()
    assert sum(counts_in_rows().values()) == 2, "the rows are there"
    assert cached(answered) == b"0,0,0,0", "the cache was not reached"
    drain_all()
    assert cached(answered) == b"0,1,1,0"
    assert_drained_truth()


def test_dying_right_after_the_commit_leaves_nothing_behind(people, answered, monkeypatch):
    """No at-once consumer has run: flags, timelines and counts come by the drain."""
    assert not seen(people[1], answered)["reblogged"]
    with monkeypatch.context() as patch:
        patch.setattr(AT_ONCE, lambda kinds: [die])
        with pytest.raises(Killed):
            repost(people[1], answered)
        with pytest.raises(Killed):
            mark_post(people[1], answered, Kind.BOOKMARK, True)
    drain_all()
    shown = seen(people[1], answered)
    assert (shown["reblogged"], shown["bookmarked"], shown["reblogs_count"]) == (True, True, 1)
    assert_drained_truth()


def test_an_error_at_the_last_step_leaves_no_repost(people, answered, monkeypatch):
    """The change row is written last. Its lane is no smallint here."""
    before = everything_written()
    with monkeypatch.context() as patch:
        columns = ChangeColumns(1 << 20, PostCreated.kind, "{}")
        patch.setattr("posts.actions.insert_post.change_columns", lambda *_: columns)
        with pytest.raises(DataError):
            repost(people[1], answered)
    assert everything_written() == before


def test_a_flush_between_act_and_drain_costs_only_time(people, answered):
    repost(people[1], answered)
    redis().call("FLUSHDB")
    assert seen(people[1], answered)["reblogged"]
    drain_all()
    redis().call("FLUSHDB")
    undo_repost(people[1], answered)
    redis().call("FLUSHDB")
    assert not seen(people[1], answered)["reblogged"]
    drain_all()
    assert seen(people[0], answered)["reblogs_count"] == 0
    assert_drained_truth()


@pytest.fixture
def quoting(you, original):
    sent = {"status": "look", "quoted_status_id": original}
    made = you.post(STATUSES, sent).json()["id"]
    drain_all()
    return made


def repaired(line):
    assert Outcome(AuditResponses()).out.splitlines()[:-1] == [line]
    assert Outcome(AuditResponses(), "--repair").code == 0
    drain_all()
    assert Outcome(AuditResponses()).code == 0
    assert_drained_truth()


def test_a_death_after_the_revocation_leaves_the_rest_to_the_drain(
    me, you, original, quoting, monkeypatch
):
    assert see(you, quoting)["quote"]["state"] == "accepted"
    with monkeypatch.context() as patch:
        patch.setattr(AT_ONCE, lambda kinds: [die])
        with pytest.raises(Killed):
            revoke_quote(PostId.from_public(quoting), PostId.from_public(original))
    with dying_at("posts.responses_recorded"):
        drain_all()
    drain_all()
    assert see(you, quoting)["quote"]["state"] == "revoked"
    assert see(me, original)["quotes_count"] == 0
    assert_drained_truth()


def test_a_second_request_finishes_what_the_first_one_began(
    me, you, original, quoting, monkeypatch
):
    see(you, quoting)
    with monkeypatch.context() as patch:
        patch.setattr(AT_ONCE, lambda kinds: [die])
        with pytest.raises(Killed):
            revoke_quote(PostId.from_public(quoting), PostId.from_public(original))
    assert me.post(f"{STATUSES}/{original}/quotes/{quoting}/revoke").status_code == 200
    assert see(you, quoting)["quote"]["state"] == "revoked"


@pytest.mark.usefixtures("at_rest")
def test_a_lost_quote_is_not_counted(me, people, original, quoting):
    lose_post(PostId.from_public(quoting))
    repaired(f"account {people[1]}: post {quoting}, a quote of {original}, was lost")
    assert see(me, original)["quotes_count"] == 0


@pytest.mark.usefixtures("at_rest")
def test_a_lost_revocation_is_written_again(me, you, people, original, quoting):
    me.post(f"{STATUSES}/{original}/quotes/{quoting}/revoke")
    drain_all()
    post_id = PostId.from_public(quoting)
    Post.objects.of(people[1]).filter(moment=post_id.moment).update(is_quote_revoked=False)
    text = f"a quote of {original}, is back: its revocation or deletion was lost"
    repaired(f"account {people[1]}: post {quoting}, {text}")
    assert see(you, quoting)["quote"]["state"] == "revoked"


@pytest.mark.usefixtures("at_rest")
def test_a_quote_without_a_response_is_recorded(me, people, original, quoting):
    execute(shard_of(people[0]), "DELETE FROM posts_response WHERE kind = 9", ())
    execute(shard_of(people[0]), "DELETE FROM counters_counter WHERE kind = 15", ())
    repaired(f"account {people[1]}: quote of {original} is not recorded")
    assert see(me, original)["quotes_count"] == 1
