"""What is lost of a quote or its revocation by a death, the drain or the audit brings back."""

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.revoke_quote import revoke_quote
from posts.ids import PostId
from posts.management.commands.audit_responses import Command
from posts.models import Post
from tests.dying import Killed, die, dying_at
from tests.integration.jobs.lost_rows import at_rest, lose_post
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES, see
from tests.truth import assert_drained_truth
from tests.world import drain_all

__all__ = ["at_rest"]
AT_ONCE = "infra.changes.append.inline_consumers_of"


@pytest.fixture
def quoting(you, original):
    sent = {"status": "look", "quoted_status_id": original}
    made = you.post(STATUSES, sent).json()["id"]
    drain_all()
    return made


def repaired(line):
    assert Outcome(Command()).out.splitlines()[:-1] == [line]
    assert Outcome(Command(), "--repair").code == 0
    drain_all()
    assert Outcome(Command()).code == 0
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
