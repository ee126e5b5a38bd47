"""A moderator decides on several at once, and sees first what will happen. With pictures."""

import pytest

from accounts.models import User
from moderation.models import Decision, Report
from tests.browser.artifacts import SHOTS
from tests.browser.community import Community
from tests.browser.tab import PHONE, Tab
from tests.people import make_boss, make_member
from tests.world import drain_all, make_account, publish

QUEUE = "/admin/moderation/report/"


@pytest.fixture
def community(world: None) -> Community:
    community = Community()
    community.make_trouble()
    seller = make_account("fay")
    post = publish(seller, "The same boat, half the price")
    Report.objects.create(
        reporter_id=community.ann,
        account_id=seller,
        category="spam",
        comment="A second account of ben?",
        post_ids=[post.base36],
    )
    community.report()
    drain_all()
    return community


@pytest.fixture
def moderator(tab: Tab, community: Community) -> Tab:
    tab.sign_in(make_member("moderator", "mia"))
    return tab


def test_reports_are_decided_on_at_once(community: Community, moderator: Tab) -> None:
    moderator.open(QUEUE)
    moderator.shoot(SHOTS / "admin-reports-1280.png")
    moderator.tick("Select all objects on this page for an action")
    moderator.choose("Action:", "Decide on them at once…")
    moderator.click("#changelist .actions button")
    moderator.see("With the accounts", "The same boat, half the price")
    moderator.choose("With the accounts", "limit")
    moderator.choose("How long", "7 days")
    moderator.choose("With the posts", "hide")
    moderator.fill("Reason", "A ring that sells one boat")
    moderator.press("Show what will happen")
    moderator.see("limited until", "hidden", "resolved", "A ring that sells one boat")
    moderator.shoot(SHOTS / "admin-several-1280.png")
    assert moderator.overflow_px() <= 0
    moderator.press("Change it")
    moderator.expect(moderator.find("#id_reason")).to_have_value("A ring that sells one boat")
    moderator.press("Show what will happen")
    moderator.press("Do it")
    moderator.see("All done.")
    assert {row.state for row in Report.objects.all()} == {"resolved"}
    kinds = [row.kind for row in Decision.objects.filter(actor__username="mia").order_by("pk")]
    assert set(kinds) == {"hide", "limit", "resolve"}
    assert User.objects.get(username="fay").restrictions


def test_the_first_page_and_a_report_on_a_telephone(community: Community, tab_of) -> None:
    tab = tab_of(PHONE)
    tab.sign_in(make_boss())
    tab.open("/admin/")
    tab.shoot(SHOTS / "admin-overview-390.png")
    tab.open(f"{QUEUE}{Report.objects.latest('pk').pk}/change/")
    with tab.dark():
        tab.shoot(SHOTS / "admin-report-dark-390.png")
    assert tab.overflow_px() <= 0
