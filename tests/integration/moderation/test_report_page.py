"""The page of a report: all that a decision needs, and the forms that take it."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.db import connections
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.site_texts.models import SiteRule
from infra.sharding.buckets import shard_of
from moderation.actions.appeals import file_appeal
from moderation.models import Appeal, Decision, Report
from moderation.types import DecisionKind
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from tests.budgets import count_calls
from tests.integration.moderation.staff_pages import member, name_account, words_at
from tests.interleavings.edits import change
from tests.people import decide, decide_on
from tests.site_rules import make_rule
from tests.world import drain_all, make_account, publish

LIST = "/admin/moderation/report/"
# Session, user, its token and second step, rights of the user and of the groups, the page, reports,
# decisions, ends of restrictions.
MOST_ON_DEFAULT, MOST_ON_SHARDS = 10, 6
pytestmark = pytest.mark.usefixtures("world")


class Case:
    """Ann reports two posts of Ben, who was reported and limited before."""

    def __init__(self) -> None:
        self.ann, self.ben = make_account("ann"), make_account("ben")
        name_account(self.ann, "Ann of the quay")
        name_account(self.ben, "Ben & boats", "I sell <b>boats</b>")
        self.posts = [publish(self.ben, text) for text in ("Buy a boat", "Buy two boats")]
        self.before = self.report("Boats, again", self.posts[:1])
        strike = decide(self.ben, DecisionKind.LIMIT)
        assert strike is not None
        file_appeal(self.ben, strike.pk, "But they float")
        self.now = self.report("The same boat, <i>daily</i>", self.posts)

    def report(self, comment: str, posts: list[PostId]) -> Report:
        return Report.objects.create(
            reporter_id=self.ann,
            account_id=self.ben,
            category="spam",
            comment=comment,
            post_ids=[post.base36 for post in posts],
        )

    @property
    def path(self) -> str:
        return f"{LIST}{self.now.pk}/change/"


@pytest.fixture
def case() -> Case:
    return Case()


@pytest.fixture
def mia(case: Case) -> Client:
    return member("moderator", "mia")


def test_one_page_is_enough_to_decide(case: Case, mia: Client) -> None:
    shown = words_at(mia, case.path)
    for words in (
        *("@ben", "Ben & boats", "I sell <b>boats</b>", "limited", "2 posts", "Joined"),
        *("@ann", "Ann of the quay", "The same boat, <i>daily</i>", "Buy a boat", "Buy two boats"),
        *(f"Spam {case.before.pk}", "Boats, again", "appeal pending", "spam", "a command"),
    ):
        assert words in shown, words
    page = mia.get(case.path).content.decode()
    for link in (
        reverse("admin:accounts_user_change", args=[case.ben]),
        reverse("admin:accounts_user_change", args=[case.ann]),
        *("/@ben", f"/statuses/{case.posts[0].public}", f"/images/?account={case.ben}"),
        f"{reverse('admin:moderation_decision_changelist')}?q={case.posts[1].public}",
    ):
        assert link in page, link
    assert "<i>daily" not in page
    assert 'name="_save' not in page, "there is nothing to enter"


def test_the_rules_that_the_reporter_named_are_shown(case: Case, mia: Client) -> None:
    kept, deleted = make_rule("Sell <i>no</i> boats"), make_rule("Be polite")
    Report.objects.filter(pk=case.now.pk).update(rule_ids=[kept, deleted])
    SiteRule.objects.filter(pk=deleted).delete()
    shown = words_at(mia, case.path)
    for words in ("Sell <i>no</i> boats", f"Rule {deleted}, which was deleted"):
        assert words in shown, words


def test_posts_of_every_state_are_shown(case: Case, mia: Client) -> None:
    first = case.posts[0]
    for text in ("<b>Cheap</b> boats", "No boats"):
        change(first, text)
    decide_on(first, DecisionKind.HIDE)
    never = first._replace(sequence=7)
    Report.objects.filter(pk=case.now.pk).update(post_ids=[first.base36, never.base36])
    shown = words_at(mia, case.path)
    shown = shown[: shown.index("Its latest posts")]
    places = [
        shown.index(text) for text in ("hidden since", "No boats", "2 before", "<b>Cheap</b>")
    ]
    assert places == sorted(places)
    assert "there is no such post" in shown
    assert "Show it again" in shown
    delete_post(first)
    gone = words_at(mia, case.path)
    gone = gone[: gone.index("Its latest posts")]
    assert "deleted since" in gone
    assert "Cheap" not in gone
    assert "Delete it for good" not in gone
    assert shown.index("Delete it for good…") < shown.index("Yes, delete it for good")


def test_the_page_costs_the_same_with_more_posts_and_a_longer_history(
    case: Case, mia: Client
) -> None:
    mia.get(case.path)  # the first one of a process asks for content types
    with count_calls() as few:
        mia.get(case.path)
    posts = [publish(case.ben, f"boat {n}") for n in range(12)]
    for post in posts[:3]:
        change(post, "another")
    for n in range(12):
        case.report(str(n), posts[:1])
        decide(case.ben, DecisionKind.WARN)
    Decision.objects.update(actor=User.objects.get(username="mia"))
    Report.objects.filter(pk=case.now.pk).update(post_ids=[post.base36 for post in posts])
    with count_calls() as many:
        shown = words_at(mia, case.path)
    assert "boat 11" in shown
    assert many.sql == few.sql
    assert many.sql["default"] <= MOST_ON_DEFAULT
    assert sum(many.sql.values()) - many.sql["default"] <= MOST_ON_SHARDS
    assert not [one.sql for one in many.statements if "COUNT(" in one.sql or "OFFSET" in one.sql]


def test_a_shard_that_is_down_takes_only_its_part_of_the_page(
    case: Case, mia: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    alias = shard_of(case.ben)
    monkeypatch.setitem(connections.settings[alias], "HOST", "127.0.0.1")
    monkeypatch.setitem(connections.settings[alias], "PORT", "1")
    shown = words_at(mia, case.path)
    assert f"{alias} does not answer" in shown
    assert "Boats, again" in shown
    assert words_at(mia, LIST)


def test_decisions_are_taken_on_the_page_and_lead_back_until_it_is_resolved(
    case: Case, mia: Client
) -> None:
    add, about = reverse("admin:moderation_decision_add"), f"report-{case.now.pk}"
    forms = [
        (add, {"kind": "freeze", "target": case.ben, "report": case.now.pk}),
        (add, {"kind": "hide", "target": case.posts[0].public, "report": case.now.pk}),
        (LIST, {"action": "resolve", "_selected_action": case.now.pk}),
    ]
    page = mia.get(case.path).content.decode()
    assert page.count(f'action="{add}"') == 3, "the account, and two posts"
    before = f"{LIST}{case.before.pk}/change/?from={case.now.pk}"
    for (where, form), then in zip(forms, (case.path, case.path, before), strict=True):
        answer = mia.post(where, {**form, "reason": "spam", "sent_from": about})
        assert (answer.status_code, answer.headers["Location"]) == (302, then)
    done = Decision.objects.filter(report=case.now.pk).order_by("id")
    assert [row.kind for row in done] == ["freeze", "hide", "resolve"]
    drain_all()
    shown = words_at(mia, case.path)
    assert "resolved" in shown
    assert "limited frozen" in shown
    # One that is refused leads back too, and says why.
    boss = User.objects.create(username="boss", is_staff=True, is_superuser=True)
    form = {"kind": "warn", "target": boss.pk, "reason": "x", "sent_from": about}
    refused = mia.post(add, form, follow=True)
    assert refused.redirect_chain == [(case.path, 302)]
    assert "only a superuser can decide on it" in refused.content.decode()
    for forged in ("report-x", "https://evil.example", "page-1", "report-"):
        away = mia.post(add, form | {"target": case.ben, "sent_from": forged})
        assert away.headers["Location"] == reverse("admin:moderation_decision_changelist")


def test_a_decision_resolves_its_report_too(case: Case, mia: Client) -> None:
    add = reverse("admin:moderation_decision_add")
    form = {"kind": "hide", "target": case.posts[0].public, "report": case.now.pk, "reason": "spam"}
    assert 'name="resolves"' in mia.get(case.path).content.decode()
    answer = mia.post(
        add, form | {"resolves": "1", "sent_from": f"report-{case.now.pk}"}, follow=True
    )
    assert "The post is hidden." in answer.content.decode()
    case.now.refresh_from_db()
    assert case.now.state == "resolved"
    kinds = (
        Decision.objects.filter(report=case.now.pk).order_by("id").values_list("kind", flat=True)
    )
    assert [*kinds] == ["hide", "resolve"]
    assert 'name="resolves"' not in mia.get(case.path).content.decode()


def test_who_may_not_resolve_reports_only_decides(case: Case) -> None:
    decider = member("moderator", "dee")
    dee = User.objects.get(username="dee")
    dee.groups.clear()
    dee.user_permissions.set(Permission.objects.filter(codename="add_decision"))
    form = {"kind": "hide", "target": case.posts[0].public, "report": case.now.pk, "reason": "spam"}
    decider.post(reverse("admin:moderation_decision_add"), form | {"resolves": "1"})
    case.now.refresh_from_db()
    assert case.now.state == "open"
    assert Decision.objects.filter(report=case.now.pk, kind="hide").exists()


def test_an_appeal_is_answered_on_its_page(case: Case, mia: Client) -> None:
    appeal = Appeal.objects.get()
    path = reverse("admin:moderation_appeal_change", args=[appeal.pk])
    shown = words_at(mia, path)
    for text in ("But they float", "limit", "@ben", "Reject: the decision stays"):
        assert text in shown
    form = {"action": "accept", "_selected_action": appeal.pk, "reason": "they do"}
    mia.post(reverse("admin:moderation_appeal_changelist"), form)
    assert "Reject: the decision stays" not in words_at(mia, path)
    assert "accepted" in words_at(mia, path)


def test_what_cannot_be_undone_looks_like_it(case: Case, mia: Client) -> None:
    """Only the decision on the account is filled."""
    page = mia.get(f"{LIST}{case.now.pk}/change/").content.decode()
    assert '<button class="button danger" name="kind" value="delete">' in page
    filled = re.findall(r'<button class="button" name="(?:action|kind)" value="(\w+)"', page)
    assert filled == []
    assert page.count('<button class="button">Decide<') == 1


def test_posts_are_named_by_their_age(case: Case, mia: Client) -> None:
    page = mia.get(f"{LIST}{case.now.pk}/change/").content.decode()
    assert re.search(r'title="Post \d+"><time [^>]*>just now</time></a>', page)


def test_who_may_only_look_gets_no_forms(case: Case) -> None:
    viewer = member("moderator", "vera")
    user = User.objects.get(username="vera")
    group = user.groups.get()
    group.permissions.remove(*group.permissions.exclude(codename__startswith="view_"))
    page = viewer.get(case.path).content.decode()
    assert "Buy two boats" in page
    assert 'name="reason"' not in page


def test_the_queue_names_people_and_is_found_by_name(case: Case, mia: Client) -> None:
    other = make_account("cora")
    Report.objects.create(reporter_id=case.ben, account_id=other, category="other")
    mia.get(LIST)  # the first one of a process asks for content types
    with count_calls() as calls:
        shown = words_at(mia, f"{LIST}?q=@BEN")
    assert "@cora" not in shown
    assert shown.count("@ann") == 2
    sql = dict(calls.sql)
    assert sql.pop("default") == MOST_ON_DEFAULT - 2
    assert set(sql.values()) == {2}, "profiles and counts, once a shard"
    assert words_at(mia, f"{LIST}?q={case.ben}").count("@ann") == 2
    assert words_at(mia, f"{LIST}?q=no_such_name").count("@ann") == 0
