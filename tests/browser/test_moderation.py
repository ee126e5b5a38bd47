"""A moderator at work: the queue of reports, and an account that is suspended and restored."""

import django
import pytest

from accounts.models import User
from accounts.site_texts.models import SiteTexts
from accounts.site_texts.queries import forget_site_description
from moderation.models import Decision, Report
from tests.browser.axe import faults_of
from tests.browser.community import Community
from tests.browser.tab import Tab
from tests.people import Visitor, make_member
from tests.world import drain_all

pytestmark = pytest.mark.core

QUEUE = "/admin/moderation/report/"
ROWS = "#result_list tbody tr"


@pytest.fixture
def community(world: None) -> Community:
    return Community()


@pytest.fixture
def mia(community: Community) -> User:
    return make_member("moderator", "mia")


@pytest.fixture
def moderator(tab: Tab, mia: User) -> Tab:
    tab.sign_in(mia)
    return tab


def act(tab: Tab, action: str, report: Report, reason: str) -> None:
    tab.tick(f"Select this object for an action - {report}")
    tab.choose("Action:", action)
    tab.fill("Reason", reason)
    # Django 6.1 names it "Run".
    tab.press("Run" if django.VERSION >= (6, 1) else "Go")


def test_a_report_is_assigned_resolved_and_reopened(
    community: Community, moderator: Tab, mia: User
) -> None:
    report = community.report()
    moderator.open(QUEUE)
    act(moderator, "Assign to me", report, "")
    moderator.see("Nothing done: give a reason.")
    act(moderator, "Assign to me", report, "I know them")
    moderator.expect(moderator.find(f"{ROWS} .field-assignee")).to_have_text("mia")
    act(moderator, "Resolve", report, "talked to ben")
    moderator.expect(moderator.find(ROWS)).to_have_count(0)
    moderator.follow("resolved")
    moderator.expect(moderator.find(f"{ROWS} .field-shown_state")).to_have_text("resolved")
    act(moderator, "Reopen", report, "it goes on")
    moderator.follow("mine")
    moderator.expect(moderator.find(f"{ROWS} .field-shown_state")).to_have_text("open")
    decisions = [(row.kind, row.reason, row.actor) for row in Decision.objects.order_by("id")]
    assert decisions == [
        ("assign", "I know them", mia),
        ("resolve", "talked to ben", mia),
        ("reopen", "it goes on", mia),
    ]


def test_a_report_leads_to_a_suspension_which_is_in_force_and_undone(
    community: Community, moderator: Tab
) -> None:
    report, path = community.report(), f"/api/v1/accounts/{community.ben}"
    moderator.open(f"{QUEUE}{report.pk}/change/")
    moderator.see("The same boat, five times a day", "Morning tide")
    moderator.see("@ben", "Joined", "No decisions on the account yet")
    moderator.click(".mod-kinds [value=suspend]")
    moderator.type_into(".mod-aside .mod-decide input[name=reason]", "spam, and told twice")
    moderator.press("Decide and next")
    moderator.at(QUEUE)
    moderator.see("The account is suspended.", "No other report waits.")
    drain_all()
    assert Visitor().status_of(path) == 404
    rows = Decision.objects.order_by("id")
    assert [(row.kind, row.report_id) for row in rows] == [
        ("suspend", report.pk),
        ("resolve", report.pk),
    ]
    assert rows[0].account_id == community.ben
    moderator.open(f"/admin/moderation/decision/add/?target={community.ben}")
    decide(moderator, "restore", "a mistake of ours")
    moderator.see("The account has no restrictions now.")
    drain_all()
    assert Visitor().status_of(path) == 200


def test_keys_lead_through_reports_and_a_decision_is_taken_back(
    community: Community, moderator: Tab
) -> None:
    first, second = community.report(), community.report()
    SiteTexts.objects.update_or_create(pk=0, defaults={"reasons": "Spam\nNot your own work"})
    forget_site_description()
    moderator.open(QUEUE)
    moderator.see("Keys: ?")
    moderator.type_key("j")
    moderator.type_key("Enter")
    arrive(moderator, f"{QUEUE}{first.pk}/change/")
    moderator.type_key("j")
    arrive(moderator, f"{QUEUE}{second.pk}/change/")
    moderator.type_key("k")
    arrive(moderator, f"{QUEUE}{first.pk}/change/")
    moderator.see_after_reloads("Not your own work")
    moderator.see("Keys: ?")
    moderator.type_key("?")
    moderator.see("Keys of this page", "Suspend", "Next report", "Resolve and next")
    assert not faults_of(moderator)
    moderator.type_key("Escape")
    moderator.type_key("2")
    reason = moderator.find(".mod-aside .mod-decide input[name=reason]")
    moderator.expect(reason).to_be_focused()
    moderator.type_key("j")
    moderator.expect(reason).to_have_value("j")
    moderator.click(".mod-aside .mod-decide .mod-chips button >> nth=1")
    moderator.expect(reason).to_have_value("Not your own work")
    moderator.type_key("Enter")
    moderator.at(f"{QUEUE}{second.pk}/change/?from={first.pk}")
    moderator.see("The account is limited.")
    moderator.press("Undo")
    moderator.at(f"{QUEUE}{first.pk}/change/")
    moderator.see("Taken back.")
    assert {row.state for row in Report.objects.all()} == {"open"}


def test_a_press_answers_at_once_and_is_sent_once(community: Community, moderator: Tab) -> None:
    """The server has not answered yet when the form is still."""
    moderator.open(f"{QUEUE}{community.report().pk}/change/")
    moderator.see("Keys: ?")
    form = moderator.find("#decide form")
    moderator.run("document.addEventListener('submit', (event) => event.preventDefault())")
    moderator.click("#decide >> text=Warn")
    moderator.type_into("#decide input[name=reason]", "spam")
    moderator.press("Decide and next")
    moderator.expect(form).to_have_attribute("inert", "")
    moderator.expect(form.locator("button.button")).to_have_css("opacity", "0.5")


def test_an_act_without_a_reason_or_a_target_is_not_done(
    community: Community, moderator: Tab
) -> None:
    moderator.open("/admin/moderation/decision/add/")
    moderator.expect(moderator.find("#id_reason")).to_have_attribute("required", "")
    moderator.type_into("#id_target", "@nobody")
    decide(moderator, "suspend", "spam")
    moderator.see("There is no such account.")
    assert not Decision.objects.exists()


def arrive(tab: Tab, page: str) -> None:
    """Its keys are known when the button for their list is there."""
    tab.at(page)
    tab.see("Keys: ?")


def decide(tab: Tab, kind: str, reason: str) -> None:
    tab.click(f".mod-kinds [value={kind}]")
    tab.type_into("#id_reason", reason)
    tab.press("Decide")
