"""A shard that hangs: operators' pages return in time, and few threads wait for it.

Decisions without Redis or a shard: in force where possible, and everywhere once it is back.
"""

import threading
import time
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.queries.viewers import find_viewer
from infra.sharding.buckets import shard_of
from infra.sharding.probe import DEADLINE_S, MAX_THREADS
from moderation.actions.joint_decisions import carry_out, create_joint_decision
from moderation.types import DecisionKind, JointPlan
from tests.callers import is_disabled, sign_in, token_of
from tests.people import Community, Visitor, decide, decide_on, make_boss
from tests.private_world import bring_back, catch_up
from tests.server_faults import kill, pause
from tests.truth import assert_drained_truth
from tests.world import make_accounts

# For a crowded machine. Without a deadline, the page would never return.
MARGIN_S = 100


@pytest.fixture
def boss(services):
    browser = Client()
    sign_in(browser, User.objects.create(username="boss", is_staff=True, is_superuser=True))
    return browser


def probe_threads():
    return [thread for thread in threading.enumerate() if thread.name == "probe-shard1"]


def test_a_shard_that_hangs(services, boss):
    accounts = make_accounts(4)
    hung = next(i for i in accounts if shard_of(i) == "shard1")
    fine = next(i for i in accounts if shard_of(i) == "shard2")
    pause(services.postgres["shard1"])
    for _ in range(2 * MAX_THREADS):
        began = time.monotonic()
        page = boss.get(reverse("find_account", args=[hung])).content.decode()
        assert time.monotonic() - began < DEADLINE_S + MARGIN_S
        assert "shard1 does not answer:" in page
        databases = boss.get(reverse("operations_now")).json()["databases"]
        assert [one["name"] for one in databases if one["problem"]] == ["shard1"]
    assert len(probe_threads()) <= MAX_THREADS
    assert "does not answer" not in boss.get(reverse("find_account", args=[fine])).content.decode()


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
