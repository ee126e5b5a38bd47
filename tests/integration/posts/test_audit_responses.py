"""audit responses names what one side lacks, writes again what can be, and ends the rest.

audit conversations compares what accounts have of direct posts with the posts, both ways.
"""

import time

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.declare_reaction import declare_reaction
from posts.actions.repost import repost
from posts.conversations.verbs import AuditConversations
from posts.ids import PostId
from posts.verbs import AuditResponses
from tests.callers import Caller
from tests.integration.jobs.lost_rows import (
    at_rest,
    lose_deletion,
    lose_end_of_mark,
    lose_mark,
    lose_post,
)
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.truth import assert_drained_truth, everything_written
from tests.world import drain_all, make_account

__all__ = ["at_rest"]

pytestmark = pytest.mark.usefixtures("at_rest")


def audit(*words: str) -> Outcome:
    return Outcome(AuditResponses(), *words)


def repair(line: str, *words: str) -> None:
    """The one difference is named, left by a dry run, and repaired once.

    What follows from the repair is different until the drain has run.
    """
    before = everything_written()
    assert audit(*words).out.splitlines()[:-1] == [line]
    assert audit("--repair", "--dry-run", *words).out.endswith(" 1 would change, 1 failed\n")
    assert everything_written() == before
    repaired = audit("--repair", *words)
    assert (repaired.code, repaired.out.splitlines()[0]) == (0, f"{line}: repaired")
    drain_all()
    assert (audit(*words).code, audit("--repair", *words).code) == (0, 0)
    assert_drained_truth()


def test_lost_reaction_is_written_again_or_ends(me, you, people, original):
    declare_reaction("clap", {"en": "claps"}, at_ms=0)
    for words in ((), ("--restored-wins",)):
        do(you, "react/clap", original)
        drain_all()
        lose_mark(people[1], PostId.from_public(original))
        repair(f"account {people[1]}: reaction clap to {original} was lost", *words)
        shown = see(me, original).get("reactions")
        assert shown == (None if words else [{"name": "clap", "count": 1, "me": False}])
    do(you, "react/clap", original)
    do(you, "unreact/clap", original)
    drain_all()
    lose_end_of_mark(people[1], PostId.from_public(original))
    repair(f"account {people[1]}: the end of its reaction clap to {original} was lost")
    assert "reactions" not in see(you, original)


def test_lost_favourite_is_written_again(me, you, people, original):
    do(you, "favourite", original)
    drain_all()
    lose_mark(people[1], PostId.from_public(original))
    repair(f"account {people[1]}: favourite of {original} was lost")
    assert see(you, original)["favourited"] is True
    assert see(me, original)["favourites_count"] == 1
    do(you, "unfavourite", original)
    drain_all()
    assert see(me, original)["favourites_count"] == 0


def test_lost_favourite_ends_if_the_restored_shard_wins(me, you, people, original):
    do(you, "favourite", original)
    drain_all()
    lose_mark(people[1], PostId.from_public(original))
    repair(f"account {people[1]}: favourite of {original} was lost", "--restored-wins")
    assert see(me, original)["favourites_count"] == 0
    do(you, "favourite", original)
    drain_all()
    assert see(me, original)["favourites_count"] == 1


def test_favourite_of_an_account_that_does_not_exist_ends(me, you, people, original):
    do(you, "favourite", original)
    drain_all()
    lose_mark(people[1], PostId.from_public(original))
    for table, column in (("counters_counter", "owner_id"), ("accounts_account", "id")):
        execute(shard_of(people[1]), f"DELETE FROM {table} WHERE {column} = %s", (people[1],))
    repair(f"account {people[1]}: favourite of {original} was lost")
    assert see(me, original)["favourites_count"] == 0


def test_lost_end_of_a_favourite_is_written_again(you, people, original):
    do(you, "favourite", original)
    do(you, "unfavourite", original)
    drain_all()
    lose_end_of_mark(people[1], PostId.from_public(original))
    repair(f"account {people[1]}: the end of its favourite of {original} was lost")
    assert see(you, original)["favourited"] is False


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_lost_reply_does_not_count(me, you, people, original, visibility):
    body = {"status": "so?", "in_reply_to_id": original, "visibility": visibility}
    lost = you.post(STATUSES, body).json()["id"]
    drain_all()
    lose_post(PostId.from_public(lost))
    repair(f"account {people[1]}: post {lost}, a reply to {original}, was lost")
    assert see(me, original)["replies_count"] == 0
    assert me.get(f"{STATUSES}/{original}/context").json()["descendants"] == []


def test_lost_repost_does_not_count_and_can_be_made_again(me, you, people, original):
    lost = do(you, "reblog", original)["id"]
    drain_all()
    lose_post(PostId.from_public(lost))
    repair(f"account {people[1]}: post {lost}, a repost of {original}, was lost")
    assert see(me, original)["reblogs_count"] == 0
    repost(people[1], PostId.from_public(original), clock_s=lambda: time.time() + 2)
    drain_all()
    assert see(me, original)["reblogs_count"] == 1


def test_reply_whose_deletion_was_lost_is_deleted_again(you, people, original):
    post = reply(you, original)["id"]
    you.delete(f"{STATUSES}/{post}")
    drain_all()
    lose_deletion(PostId.from_public(post))
    line = f"account {people[1]}: post {post}, a reply to {original}, is back:"
    kept = audit("--repair", "--restored-wins")
    assert (kept.code, kept.out.splitlines()[0]) == (1, f"{line} its deletion was lost")
    repair(f"{line} its deletion was lost")
    assert you.get(f"{STATUSES}/{post}").status_code == 404


def test_repost_that_was_made_again_later_ends(you, people, original):
    """The later repost is lost, and the one before it is back."""
    before = do(you, "reblog", original)["id"]
    do(you, "unreblog", original)
    later = do(you, "reblog", original)["id"]
    drain_all()
    lose_post(PostId.from_public(later))
    lose_deletion(PostId.from_public(before))
    repaired = audit("--repair")
    lost = f"account {people[1]}: post {later}, a repost of {original}, was lost: repaired"
    back = f"account {people[1]}: repost of {original} is back: its end was lost: repaired"
    assert sorted(repaired.out.splitlines()[:-1]) == [lost, back]
    drain_all()
    assert audit().code == 0
    assert_drained_truth()


def test_repost_of_a_lost_post_ends(you, people, original):
    do(you, "reblog", original)
    drain_all()
    lose_post(PostId.from_public(original))
    repair(f"account {people[1]}: repost of {original} shows a post that does not exist")
    assert you.get(f"/api/v1/accounts/{people[1]}").json()["statuses_count"] == 0


def test_what_was_not_recorded_is_recorded(me, you, people, original):
    do(you, "favourite", original)
    reply(you, original)
    drain_all()
    post_id = PostId.from_public(original)
    execute(shard_of(people[0]), "DELETE FROM posts_response WHERE author_id = %s", (people[0],))
    execute(
        shard_of(people[0]),
        "UPDATE counters_counter SET value = 0 WHERE owner_id = %s AND subject = %s",
        (people[0], post_id.moment),
    )
    found = audit().out.splitlines()[:-1]
    assert found == [
        f"account {people[1]}: reply to {original} is not recorded",
        f"account {people[1]}: favourite of {original} is not recorded",
    ]
    assert audit("--repair").code == 0
    assert [see(me, original)[f"{n}_count"] for n in ("replies", "favourites")] == [1, 1]
    assert_drained_truth()


def test_response_that_ended_is_ended(me, you, people, original):
    do(you, "favourite", original)
    drain_all()
    sql = "UPDATE posts_viewermark SET is_on = false, revision = 2 WHERE owner_id = %s"
    execute(shard_of(people[1]), sql, (people[1],))
    execute(
        shard_of(people[1]),
        "UPDATE counters_counter SET value = 0 WHERE owner_id = %s AND kind = 10",
        (people[1],),
    )
    repair(f"account {people[0]}: post {original}: favourite of it by {people[1]} is still counted")
    assert see(me, original)["favourites_count"] == 0


def test_pending_change_is_no_difference(me, you, people, original, monkeypatch):
    do(you, "favourite", original)
    monkeypatch.setattr("infra.jobs.findings.MOST_COMPARISONS", 2)
    monkeypatch.setattr(AuditResponses, "pause", lambda self, seconds: bool(drain_all()))
    assert audit().code == 0


@pytest.fixture
def message(me, people):
    """The direct post of ann, the account that it mentions, and a client of that one."""
    eve = make_account("eve")
    post = me.post(STATUSES, {"status": "@eve psst", "visibility": "direct"}).json()["id"]
    drain_all()
    assert len(listed(Caller(eve))) == 1
    return post, eve, Caller(eve)


def listed(caller: Caller) -> list[object]:
    found: list[object] = caller.get("/api/v1/conversations").json()
    return found


def audit_of_conversations(*words: str) -> Outcome:
    return Outcome(AuditConversations(), *words)


def repair_conversations(lines: list[str]) -> None:
    assert sorted(audit_of_conversations().out.splitlines()[:-1]) == sorted(lines)
    repaired = audit_of_conversations("--repair")
    assert repaired.code == 0
    done = repaired.out.splitlines()[:-1]
    # The repair of one row may end the others of the post before they are compared.
    assert set() < set(done) <= {f"{one}: repaired" for one in lines}
    drain_all()
    assert audit_of_conversations().code == 0


def test_conversation_of_a_lost_post_ends(message, me, people):
    post, eve, caller = message
    lose_post(PostId.from_public(post))
    line = f"account {people[0]}: direct post {post}"
    repair_conversations([f"{line} for {one} was lost" for one in (people[0], eve)])
    assert (listed(caller), listed(me)) == ([], [])


def test_conversation_of_a_deleted_post_ends(message, me, people):
    """The change of the deletion was lost."""
    post, eve, caller = message
    post_id = PostId.from_public(post)
    sql = "UPDATE posts_post SET deleted_at = now() WHERE author_id = %s AND moment = %s"
    execute(shard_of(people[0]), sql, (people[0], post_id.moment))
    line = f"account {people[0]}: direct post {post} is gone, and still listed for"
    repair_conversations([f"{line} {one}" for one in (people[0], eve)])
    assert listed(caller) == []


def test_lost_conversation_is_listed_again(message, people):
    post, eve, caller = message
    for table in ("directpost", "conversation"):
        execute(shard_of(eve), f"DELETE FROM conversations_{table} WHERE owner_id = %s", (eve,))
    repair_conversations([f"account {people[0]}: direct post {post} is not listed for all"])
    assert len(listed(caller)) == 1
