"""The admin of moderation: queues, decisions, and who may do what."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import NoReverseMatch, reverse

from accounts.models import User
from moderation.groups import GROUPS, create_groups, create_groups_after_migrating
from moderation.models import Appeal, Decision, Report
from moderation.types import DecisionKind
from tests.budgets import count_calls
from tests.callers import sign_in
from tests.people import Community, Visitor, decide
from tests.world import drain_all, make_account

REPORTS, APPEALS = "admin:moderation_report_changelist", "admin:moderation_appeal_changelist"
ACTS, ADD = "admin:moderation_decision_changelist", "admin:moderation_decision_add"


@pytest.fixture
def community(world: None) -> Community:
    create_groups()
    return Community()


@pytest.fixture
def mia(community: Community) -> User:
    return member_of("moderator", "mia")


def member_of(group: str, name: str) -> User:
    user = User.objects.get(pk=make_account(name))
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    return User.objects.get(pk=user.pk)


def browser_of(user: User) -> Client:
    browser = Client()
    sign_in(browser, user)
    return browser


def report_on(community: Community, **values: Any) -> Report:
    row = {
        "reporter_id": community.me,
        "account_id": community.moderated,
        "category": "spam",
    } | values
    return Report.objects.create(**row)


def act_on(browser: Client, page: str, action: str, pk: int, reason: str = "because") -> Any:
    form = {"action": action, "_selected_action": [pk], "reason": reason}
    return browser.post(reverse(page), form, follow=True)


def do(
    browser: Client, kind: DecisionKind, target: object, reason: str = "because", **more: Any
) -> Any:
    form = {"kind": str(kind), "target": str(target), "reason": reason, **more}
    return browser.post(reverse(ADD), form)


def words_of(answer: Any) -> list[str]:
    return [str(message) for message in answer.context["messages"]]


def shown_at(browser: Client, page: str, **query: object) -> list[int]:
    answer = browser.get(reverse(page), query)
    assert answer.status_code == 200
    return [row.pk for row in answer.context["cl"].result_list]


def test_reports_and_users_show_names_and_restrictions(community: Community, mia: User) -> None:
    report = report_on(community)
    decide(community.moderated, DecisionKind.LIMIT)
    reported = User.objects.get(pk=community.moderated)
    reporter = User.objects.get(pk=community.me)
    browser = browser_of(mia)
    pages = (reverse(REPORTS), reverse("admin:moderation_report_change", args=[report.pk]))
    for page in pages:
        shown = browser.get(page).content.decode()
        assert f">@{reported.username}</a>" in shown
        assert f">@{reporter.username}</a>" in shown
        assert "limited" in shown
    users = browser.get(reverse("admin:accounts_user_changelist"), {"q": reported.username})
    assert "limited" in users.content.decode()


def test_a_report_is_taken_on_resolved_and_opened_again(community: Community, mia: User) -> None:
    browser, report = browser_of(mia), report_on(community)
    act_on(browser, REPORTS, "assign", report.pk, reason=" ")
    assert not Decision.objects.exists()
    act_on(browser, REPORTS, "assign", report.pk)
    assert shown_at(browser, REPORTS, queue="mine") == [report.pk]
    act_on(browser, REPORTS, "resolve", report.pk, "handled")
    act_on(browser, REPORTS, "resolve", report.pk, "handled twice")
    assert shown_at(browser, REPORTS, queue="resolved") == [report.pk]
    assert shown_at(browser, REPORTS, queue="open") == []
    act_on(browser, REPORTS, "reopen", report.pk, "it goes on")
    assert shown_at(browser, REPORTS, queue="assigned") == [report.pk]
    assert shown_at(browser, REPORTS, queue="unassigned") == []
    rows = Decision.objects.order_by("id")
    told = [(row.kind, row.reason, row.actor_id, row.report_id) for row in rows]
    about = (mia.pk, report.pk)
    assert told == [
        ("assign", "because", *about),
        ("resolve", "handled", *about),
        ("reopen", "it goes on", *about),
    ]


def test_adding_a_decision_carries_it_out(community: Community, mia: User) -> None:
    browser, report = browser_of(mia), report_on(community)
    name = User.objects.get(pk=community.moderated).username
    assert do(browser, DecisionKind.SUSPEND, f"@{name}", report=report.pk).status_code == 302
    assert community.home() == [community.friends.public]
    assert do(browser, DecisionKind.RESTORE, community.moderated).status_code == 302
    link = f"http://localhost:8000/statuses/{community.theirs.public}"
    assert do(browser, DecisionKind.HIDE, link).status_code == 302
    assert community.repost_of_theirs.public not in community.home()
    assert do(browser, DecisionKind.SHOW, community.theirs.public).status_code == 302
    assert community.home() == community.whole_home
    for text in (community.theirs.public, community.theirs.base36):
        found = browser.get(reverse(ACTS), {"q": text})
        assert len(found.context["cl"].result_list) == 2, "hide and show"
        assert community.theirs.public in found.content.decode()
        assert len(browser.get(reverse(ACTS), {"q": community.moderated}).context["cl"].result_list)
    rows = list(Decision.objects.order_by("id"))
    assert [(row.kind, row.actor_id) for row in rows] == [
        (word, mia.pk) for word in ("suspend", "restore", "hide", "show")
    ]
    assert rows[0].report_id == report.pk
    assert shown_at(browser, ACTS) == [row.pk for row in reversed(rows)]


def test_what_cannot_be_is_said_on_the_form(community: Community, mia: User) -> None:
    for kind, target, reason, field in [
        (DecisionKind.WARN, "nobody_at_all", "x", "target"),
        (DecisionKind.WARN, "99999999", "x", "target"),
        (DecisionKind.HIDE, "nonsense", "x", "target"),
        (DecisionKind.WARN, "", "x", "target"),
        (DecisionKind.PURGE, "1", "x", "kind"),
        (DecisionKind.WARN, "person", " ", "reason"),
    ]:
        answer = do(browser_of(mia), kind, target, reason)
        assert answer.status_code == 200, (kind, target)
        assert field in answer.context["adminform"].form.errors, (kind, target)
        assert not Decision.objects.exists(), (kind, target)


def test_what_is_refused_or_so_already_is_said(community: Community, mia: User) -> None:
    browser = browser_of(mia)
    boss = User.objects.create(username="boss", is_staff=True, is_superuser=True)
    refused = do(browser, DecisionKind.SUSPEND, boss.pk)
    assert "only a superuser can decide on it" in refused.content.decode()
    assert User.objects.get(pk=boss.pk).is_active
    assert do(browser_of(boss), DecisionKind.FREEZE, mia.pk).status_code == 302
    gone = community.theirs._replace(sequence=7).public
    assert "Record not found" in do(browser, DecisionKind.HIDE, gone).content.decode()
    decide(community.moderated, DecisionKind.LIMIT)
    again = browser.post(
        reverse(ADD), {"kind": "limit", "target": community.moderated, "reason": "x"}, follow=True
    )
    assert words_of(again) == ["Nothing done: it changes nothing."]
    assert Decision.objects.count() == 2


def test_nothing_is_changed_or_deleted_by_hand(community: Community) -> None:
    boss = User.objects.create(username="boss", is_staff=True, is_superuser=True)
    decision, report = decide(community.moderated, DecisionKind.WARN), report_on(community)
    assert decision is not None
    appeal = Appeal.objects.create(decision=decision, text="no")
    browser = browser_of(boss)
    for name, row in {"decision": decision, "report": report, "appeal": appeal}.items():
        assert browser.post(
            reverse(f"admin:moderation_{name}_delete", args=[row.pk]), {"post": "yes"}
        ).status_code == 403  # fmt: skip
        page = browser.get(reverse(f"admin:moderation_{name}_change", args=[row.pk]))
        assert page.status_code == 200
        for button in ("_save", "_continue", "_addanother"):
            assert f'name="{button}"' not in page.content.decode(), "there is nothing to save"
    browser.post(reverse("admin:moderation_report_change", args=[report.pk]), {"comment": "better"})
    assert Report.objects.get().comment == ""


def test_appeals_are_filed_for_who_cannot_and_decided(community: Community, mia: User) -> None:
    browser, strike = browser_of(mia), decide(community.moderated, DecisionKind.SUSPEND)
    assert strike is not None
    add = reverse("admin:moderation_appeal_add")
    assert browser.post(add, {"decision": strike.pk, "text": "by mail"}).status_code == 302
    wrong = browser.post(add, {"decision": strike.pk, "text": "again"})
    assert wrong.status_code == 200
    appeal = Appeal.objects.get()
    act_on(browser, APPEALS, "reject", appeal.pk, reason="")
    assert Appeal.objects.get().state == "pending"
    act_on(browser, APPEALS, "accept", appeal.pk, "right so")
    assert community.home() == community.whole_home
    answer = act_on(browser, APPEALS, "reject", appeal.pk, "or not")
    assert words_of(answer) == [f"{appeal}: This appeal is already decided"]
    assert [row.kind for row in Decision.objects.order_by("id")] == [
        "suspend", "accept", "restore",
    ]  # fmt: skip


def test_the_open_reports_are_shown_first_and_a_search_finds_all(
    community: Community, mia: User
) -> None:
    browser, first = browser_of(mia), report_on(community)
    second = report_on(community)
    act_on(browser, REPORTS, "resolve", first.pk)
    assert shown_at(browser, REPORTS) == [second.pk]
    assert shown_at(browser, REPORTS, queue="open") == [second.pk]
    assert shown_at(browser, REPORTS, queue="all") == [second.pk, first.pk]
    assert shown_at(browser, REPORTS, q=community.moderated) == [second.pk, first.pk]
    assert shown_at(browser, REPORTS, q=community.moderated, queue="resolved") == [first.pk]
    page = browser.get(reverse(REPORTS)).content.decode()
    choices = re.findall(r'<li( class="selected")?>\s*<a href="\?queue=(\w+)"', page)
    assert [word for _, word in choices] == [
        *("open", "unassigned", "mine", "assigned", "resolved", "all")
    ]
    assert [word for chosen, word in choices if chosen] == ["open"]


def test_a_queue_that_does_not_exist_is_an_error(community: Community, mia: User) -> None:
    report_on(community)
    answer = browser_of(mia).get(reverse(REPORTS), {"queue": "nonsense"})
    assert (answer.status_code, answer["Location"]) == (302, f"{reverse(REPORTS)}?e=1")


def may_open(user: User) -> set[str]:
    """Which pages of the admin somebody may look at."""
    pages = [permission.content_type for permission in Permission.objects.all()]
    names = {f"{one.app_label}_{one.model}" for one in pages}
    browser = browser_of(user)
    return {name for name in names if _opens(browser, f"admin:{name}_changelist")}


def _opens(browser: Client, name: str) -> bool:
    try:
        return bool(browser.get(reverse(name)).status_code == 200)
    except NoReverseMatch:
        return False


def test_moderators_do_what_moderators_do_and_operators_the_rest(community: Community) -> None:
    mia, otto = member_of("moderator", "mia"), member_of("operator", "otto")
    names = ("report", "decision", "appeal", "timedrestriction", "jointdecision")
    ours = {f"moderation_{name}" for name in names}
    assert may_open(mia) == ours | {"accounts_user"}
    theirs = may_open(otto)
    assert theirs >= {"promotions_campaign", "accounts_user", "accounts_accesstoken"}
    assert not theirs & ours
    assert do(browser_of(otto), DecisionKind.SUSPEND, community.moderated).status_code == 403
    assert browser_of(mia).get(reverse("admin:promotions_campaign_add")).status_code == 403
    who = reverse("admin:accounts_user_change", args=[mia.pk])
    assert browser_of(mia).post(who, {"is_superuser": "on"}).status_code == 403
    assert browser_of(otto).post(who, {"is_superuser": "on"}).status_code == 403
    report = report_on(community)
    act_on(browser_of(otto), REPORTS, "resolve", report.pk)
    assert Report.objects.get().state == "open"
    outsider = User.objects.create(username="outsider", is_staff=True)
    assert may_open(outsider) == set()


def test_groups_hold_what_is_written_and_nothing_else(world: None) -> None:
    create_groups()
    group = Group.objects.get(name="moderator")
    group.permissions.add(Permission.objects.get(codename="delete_user"))
    create_groups_after_migrating(using="shard0")
    assert group.permissions.filter(codename="delete_user").exists()
    create_groups_after_migrating(using="default")
    for name, apps in GROUPS.items():
        held = Permission.objects.filter(group__name=name)
        found = {(one.content_type.app_label, one.codename) for one in held}
        assert found == {(app, word) for app, words in apps.items() for word in words}


def test_lists_go_by_key_and_count_nothing(community: Community, mia: User) -> None:
    rows = [report_on(community, comment=str(n)) for n in range(120)]
    browser, ids = browser_of(mia), [row.pk for row in rows]
    with count_calls() as calls:
        answer = browser.get(reverse(REPORTS))
    asked = [one.sql for one in calls.statements if "moderation_report" in one.sql]
    assert not [sql for sql in asked if "COUNT" in sql or "OFFSET" in sql]
    found: list[int] = []
    query: str | None = ""
    while query is not None:
        answer = browser.get(reverse(REPORTS) + query)
        found += [row.pk for row in answer.context["cl"].result_list]
        query = answer.context["cl"].further_query
    assert found == ids
    assert shown_at(browser, REPORTS, queue="open", after=ids[99]) == ids[100:]
    assert browser.get(reverse(REPORTS), {"after": "x"}, follow=True).status_code == 200
    act_on(browser, f"{REPORTS}", "resolve", ids[3])
    assert shown_at(browser, REPORTS, queue="resolved") == [ids[3]]


def test_who_was_suspended_by_a_moderator_is_gone_for_all(community: Community, mia: User) -> None:
    do(browser_of(mia), DecisionKind.SUSPEND, community.moderated)
    drain_all()
    assert Visitor().status_of(f"/api/v1/accounts/{community.moderated}") == 404
