"""A decision of the moderators notifies the account that it is about."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from accounts.models import User
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from moderation.actions.appeals import file_appeal
from moderation.actions.by_owner import delete_own_account
from moderation.actions.decide import decide_on_account
from moderation.actions.joint_decisions import carry_out, create_joint_decision
from moderation.models import Decision
from moderation.types import DecisionKind, DecisionOrigin, JointPlan
from notifications.actions.policy import change_policy
from notifications.types import Measure, Policy
from posts.ids import PostId
from tests.budgets import count_calls
from tests.callers import Caller
from tests.dying import armed, dying_at
from tests.integration.notifications.listing import V1, V2, body, replay_everything, rows, told
from tests.people import decide, decide_on, make_boss
from tests.push_service import Device, push_service
from tests.world import drain_all

WARNING = "moderation_warning"
NOW = datetime.now(UTC)


def actions(caller):
    return [one[WARNING]["action"] for one in body(caller.get(V1)) if one["type"] == WARNING]


def judge():
    return User.objects.filter(username="judge").first() or make_boss("judge")


def warned(account_id, reason="spam"):
    origin = DecisionOrigin(judge().pk, reason)
    decision = decide_on_account(account_id, DecisionKind.WARN, origin, NOW)
    drain_all()
    return decision


def test_a_warning_is_in_all_lists_and_counts_and_names_no_moderator(people, me, you):
    decision, my_id = warned(people[0], "Be kind"), str(people[0])
    answer = me.get(V1)
    [one] = body(answer)
    warning = one[WARNING]
    assert (one["type"], one["account"]["id"], "status" in one) == (WARNING, my_id, False)
    assert warning["target_account"]["id"] == my_id and warning["created_at"].endswith("Z")
    assert {name: warning[name] for name in ("id", "action", "text", "status_ids", "appeal")} == {
        "id": str(decision.pk), "action": "none", "text": "Be kind", "status_ids": None,
        "appeal": None,
    }  # fmt: skip
    assert b"judge" not in answer.content
    grouped = body(me.get(V2))
    [group] = grouped["notification_groups"]
    assert (group["type"], group["sample_account_ids"]) == (WARNING, [my_id])
    assert group[WARNING] == warning and grouped["accounts"][0]["id"] == my_id
    assert body(me.get(f"{V2}/{group['group_key']}"))["notification_groups"][0][WARNING] == warning
    assert body(me.get(f"{V1}/{one['id']}")) == one
    for path in (V1, V2):
        assert body(me.get(f"{path}/unread_count")) == {"count": 1}
        assert body(me.get(f"{path}/unread_count", {"exclude_types[]": WARNING})) == {"count": 0}
    assert len(told(me, {"types[]": WARNING})) == 1
    assert told(me, {"types[]": "mention"}) == told(me, {"exclude_types[]": WARNING}) == []
    assert told(you) == []
    body(me.post(f"{V2}/{group['group_key']}/dismiss"))
    assert told(me) == []


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (DecisionKind.WARN, "none"),
        (DecisionKind.LIMIT, "silence"),
        (DecisionKind.FREEZE, "disable"),
    ],
)
def test_each_measure_on_an_account_notifies(people, me, kind, action):
    decide(people[0], kind)
    decide(people[0], DecisionKind.RESTORE)
    drain_all()
    assert actions(me) == [action]


def test_a_suspended_account_finds_it_when_it_is_back(people):
    decide(people[0], DecisionKind.SUSPEND)
    drain_all()
    decide(people[0], DecisionKind.RESTORE)
    drain_all()
    assert actions(Caller(people[0])) == ["suspend"]


def test_decisions_on_posts_notify_with_the_post(people, me, original):
    post = PostId.from_public(original)
    for kind in (DecisionKind.HIDE, DecisionKind.SHOW, DecisionKind.DELETE):
        decide_on(post, kind)
    drain_all()
    found = [one[WARNING] for one in body(me.get(V1))]
    assert [(one["action"], one["measure"], one["status_ids"]) for one in found] == [
        ("delete_statuses", "delete_statuses", [original]),
        ("delete_statuses", "hide_statuses", [original]),
    ]


def test_a_decision_on_several_notifies_each(people, me, you):
    plan = JointPlan(
        DecisionKind.LIMIT, None, False, None, "spam", dict.fromkeys(people[:2]), {}, {}
    )
    boss = make_boss()
    carry_out(create_joint_decision(uuid4(), boss.pk, plan), boss.pk)
    drain_all()
    assert actions(me) == actions(you) == ["silence"]


def test_nothing_filters_it(people, me):
    change_policy(people[0], dict.fromkeys(Policy._fields, Measure.DROP))
    decide(people[0], DecisionKind.LIMIT)
    warned(people[0])
    assert actions(me) == ["none", "silence"]
    assert body(me.get("/api/v1/notifications/requests")) == []


def test_the_appeal_is_in_it(people, me):
    decision = warned(people[0])
    file_appeal(people[0], decision.pk, "I was kind")
    [one] = body(me.get(V1))
    assert one[WARNING]["appeal"] == {"text": "I was kind", "state": "pending"}


def test_a_killed_decision_notifies_once_whatever_is_replayed(people, me):
    with dying_at("changes.committed"):
        decide(people[0], DecisionKind.WARN)
    assert told(me) == []
    drain_all()
    assert actions(me) == ["none"]
    before = rows(people[0])
    replay_everything(GLOBAL_ALIAS)
    assert rows(people[0]) == before and len(before) == 1


def test_a_drain_that_dies_after_the_row_adds_no_second(people, me):
    decide(people[0], DecisionKind.WARN)
    with armed("notifications.recorded", lambda: 1 / 0):
        drain_all()
    assert len(rows(people[0])) == 1
    make_due()
    drain_all()
    assert actions(me) == ["none"] and len(rows(people[0])) == 1


def make_due():
    execute(GLOBAL_ALIAS, "UPDATE changes_change SET next_attempt_at = clock_timestamp()")


def test_who_deletes_the_own_account_is_not_warned(people):
    delete_own_account(people[0], NOW)
    drain_all()
    assert rows(people[0]) == []
    assert Decision.objects.filter(account_id=people[0]).exists()


def test_a_page_of_warnings_costs_one_query_more(people, me):
    for _ in range(3):
        warned(people[0])
    body(me.get(V1))
    with count_calls() as calls:
        assert len(body(me.get(V1))) == 3
    decisions = [one for one in calls.statements if "moderation_decision" in one.sql]
    assert len(decisions) == 1


def test_the_reason_is_pushed_to_devices_that_want_it(people, me):
    with push_service() as service:
        device, caller = Device(), Caller(people[0], "read write push")
        target = {"endpoint": f"{service.url}/box", "keys": device.keys()}
        wishes = {"alerts": {WARNING: True}}
        body(caller.post("/api/v1/push/subscription", {"subscription": target, "data": wishes}))
        warned(people[0], "Be kind")
        replay_everything(GLOBAL_ALIAS)
        [message] = map(device.read, service.received)
    assert (message["notification_type"], message["body"]) == (WARNING, "Be kind")
    assert "moderators" in message["title"]
