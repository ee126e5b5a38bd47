"""Decisions without Redis or a shard: in force where possible, and everywhere once it is back."""

from uuid import uuid4

import pytest

from accounts.queries.viewers import find_viewer
from infra.sharding.buckets import shard_of
from moderation.actions.joint_decisions import carry_out, create_joint_decision
from moderation.types import DecisionKind, JointPlan
from tests.callers import is_disabled, token_of
from tests.people import Community, Visitor, decide, decide_on, make_boss
from tests.private_world import bring_back, catch_up
from tests.server_faults import kill, pause
from tests.truth import assert_drained_truth


@pytest.mark.parametrize("end", [kill, pause])
def test_without_redis(services, end):
    """It still has what was cached before, where it was only hung."""
    community, visitor = Community(), Visitor()
    token = token_of(community.moderated)
    person = f"/api/v1/accounts/{community.moderated}"
    assert community.home() == community.home() == community.whole_home
    assert (visitor.status_of(person), find_viewer(token) is not None) == (200, True)
    end(services.redis)
    decide(community.moderated, DecisionKind.SUSPEND)
    decide_on(community.friends, DecisionKind.HIDE)
    assert community.home() == []
    assert (visitor.status_of(person), is_disabled(token)) == (404, True)
    bring_back(services.redis)
    catch_up()
    assert community.home() == []
    assert (visitor.status_of(person), is_disabled(token)) == (404, True)
    decide(community.moderated, DecisionKind.RESTORE)
    decide_on(community.friends, DecisionKind.SHOW)
    assert community.home() == community.whole_home
    catch_up()
    assert_drained_truth()


def test_while_their_shard_is_away(services):
    """They are shut out at once, and hidden when the shard is back."""
    community = Community()
    token = token_of(community.moderated)
    shard = services.postgres[shard_of(community.moderated)]
    kill(shard)
    decide(community.moderated, DecisionKind.SUSPEND)
    assert is_disabled(token)
    shard.start()
    catch_up()
    assert community.home() == [community.friends.public]
    assert Visitor().status_of(f"/api/v1/accounts/{community.moderated}") == 404


def test_of_several_those_of_a_shard_that_is_away_say_so_and_are_done_later(services):
    """Accounts are decided on at once, because their users are on the default database."""
    community = Community()
    posts = {community.theirs: None, community.friends: None}
    assert len({shard_of(post.author_id) for post in posts}) == 2
    plan = JointPlan(
        *(DecisionKind.LIMIT, DecisionKind.HIDE, False, None, "a ring"),
        *({community.moderated: None}, posts, {}),
    )
    boss, shard = make_boss().pk, services.postgres[shard_of(community.moderated)]
    kill(shard)
    joint = create_joint_decision(uuid4(), boss, plan)
    carry_out(joint, boss)
    away, done, limited = joint.targets.order_by("pk")
    assert (away.state, done.state, limited.state) == ("failed", "done", "done")
    assert f"{shard_of(community.moderated)} does not answer" in away.note
    shard.start()
    catch_up()
    carry_out(joint, boss)
    assert {target.state for target in joint.targets.all()} == {"done"}
    assert community.home() == [community.answer.public]
    assert Visitor().status_of(f"/api/v1/statuses/{community.theirs.public}") == 404
