"""Moderators at the pages of the admin while a shard is down or hangs.

They read what is not done, all else is done, and a repetition does the rest once.
"""

import pytest

from infra.sharding.buckets import shard_of
from moderation.actions.appeals import file_appeal
from moderation.models import Appeal, Decision
from moderation.types import DecisionKind
from tests.integration.moderation.staff_pages import member, words_at
from tests.integration.moderation.test_joint_decisions import send as send_joint
from tests.people import Community, decide, decide_on
from tests.private_world import bring_back, catch_up, forget_connections
from tests.server_faults import kill, pause
from tests.truth import assert_drained_truth

APPEALS, ADD = "/admin/moderation/appeal/", "/admin/moderation/decision/add/"
AWAY = "A database does not answer, so nothing is done. Try again later."
pytestmark = pytest.mark.parametrize("end", [kill, pause])


def accept(browser, appeals):
    chosen = [appeal.pk for appeal in appeals]
    form = {"action": "accept", "reason": "right so", "_selected_action": chosen}
    return words_of(browser.post(APPEALS, form, follow=True))


def words_of(answer):
    assert answer.status_code == 200, answer.status_code
    return [str(message) for message in answer.context["messages"]]


def come_back(shard):
    bring_back(shard)
    forget_connections()
    catch_up()


def states():
    return [appeal.state for appeal in Appeal.objects.order_by("pk")]


def kinds():
    return [decision.kind for decision in Decision.objects.order_by("pk")]


def appeal_against(post):
    return file_appeal(post.author_id, decide_on(post, DecisionKind.HIDE).pk, "why?")


def test_appeals_against_hidden_posts(services, end):
    community, mia = Community(), member("moderator", "mia")
    posts = (community.friends, community.theirs)
    assert len({shard_of(post.author_id) for post in posts}) == 2
    appeals = [appeal_against(post) for post in posts]
    catch_up()
    end(shard := services.postgres[shard_of(community.moderated)])
    (away,) = accept(mia, appeals)
    assert AWAY in away
    assert states() == ["accepted", "pending"]
    assert kinds() == ["hide", "hide", "accept", "show"]
    come_back(shard)
    (before,) = accept(mia, appeals)
    assert "does not answer" not in before
    assert states() == ["accepted", "accepted"]
    assert kinds()[4:] == ["accept", "show"]
    catch_up()
    assert community.home() == community.whole_home
    assert_drained_truth()


def test_an_appeal_against_a_suspension(services, end):
    """It needs no shard: the person may sign in at once, and is seen when the shard is back."""
    community, mia = Community(), member("moderator", "mia")
    decision = decide(community.moderated, DecisionKind.SUSPEND)
    appeal = file_appeal(community.moderated, decision.pk, "why?")
    catch_up()
    end(shard := services.postgres[shard_of(community.moderated)])
    assert accept(mia, [appeal]) == []
    assert (states(), kinds()) == (["accepted"], ["suspend", "accept", "restore"])
    come_back(shard)
    assert community.home() == community.whole_home


def test_decisions_on_one_and_on_several(services, end):
    community, mia = Community(), member("moderator", "mia")
    end(shard := services.postgres[shard_of(community.moderated)])
    for kind in ("hide", "delete"):
        form = {"kind": kind, "target": community.theirs.public, "reason": "spam"}
        (away,) = words_of(mia.post(ADD, form, follow=True))
        assert AWAY in away
    assert kinds() == []
    accounts = f"account={community.moderated}&account={community.friend}"
    posts = f"post={community.theirs.public}&post={community.friends.public}"
    address = f"/admin/moderation/several/?{accounts}&{posts}"
    joint = send_joint(mia, address, account_kind="limit", post_kind="hide", reason="ring")
    assert joint.status_code == 302
    assert f"{shard_of(community.moderated)} does not answer" in words_at(mia, joint["Location"])
    assert kinds() == ["hide", "limit", "limit"]
    assert mia.post(joint["Location"]).status_code == 302
    assert kinds() == ["hide", "limit", "limit"]
    come_back(shard)
    for _ in range(2):
        assert mia.post(joint["Location"]).status_code == 302
        assert kinds() == ["hide", "limit", "limit", "hide"]
    assert "does not answer" not in words_at(mia, joint["Location"])
