"""audit_conversations compares what accounts have of direct posts with the posts, both ways."""

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.conversations.management.commands.audit_conversations import Command
from posts.ids import PostId
from tests.callers import Caller
from tests.integration.jobs.lost_rows import at_rest, lose_post
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES
from tests.world import drain_all, make_account

pytestmark = pytest.mark.usefixtures("at_rest")
__all__ = ["at_rest"]


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


def audit(*words: str) -> Outcome:
    return Outcome(Command(), *words)


def repair(lines: list[str]) -> None:
    assert sorted(audit().out.splitlines()[:-1]) == sorted(lines)
    repaired = audit("--repair")
    assert repaired.code == 0
    done = repaired.out.splitlines()[:-1]
    # The repair of one row may end the others of the post before they are compared.
    assert set() < set(done) <= {f"{one}: repaired" for one in lines}
    drain_all()
    assert audit().code == 0


def test_conversation_of_a_lost_post_ends(message, me, people):
    post, eve, caller = message
    lose_post(PostId.from_public(post))
    line = f"account {people[0]}: direct post {post}"
    repair([f"{line} for {one} was lost" for one in (people[0], eve)])
    assert (listed(caller), listed(me)) == ([], [])


def test_conversation_of_a_deleted_post_ends(message, me, people):
    """The change of the deletion was lost."""
    post, eve, caller = message
    post_id = PostId.from_public(post)
    sql = "UPDATE posts_post SET deleted_at = now() WHERE author_id = %s AND moment = %s"
    execute(shard_of(people[0]), sql, (people[0], post_id.moment))
    line = f"account {people[0]}: direct post {post} is gone, and still listed for"
    repair([f"{line} {one}" for one in (people[0], eve)])
    assert listed(caller) == []


def test_lost_conversation_is_listed_again(message, people):
    post, eve, caller = message
    for table in ("directpost", "conversation"):
        execute(shard_of(eve), f"DELETE FROM conversations_{table} WHERE owner_id = %s", (eve,))
    repair([f"account {people[0]}: direct post {post} is not listed for all"])
    assert len(listed(caller)) == 1
