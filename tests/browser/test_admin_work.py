"""The main screens of the admin for people who do not see the screen, or do not see it well.

The finder, typed into: an account, a post, an edge; and the page each leads to.

What operators mend by hand: a home timeline that lacks a post, and changes that are parked.

A moderator decides on several at once, and sees first what will happen. With pictures.
"""

import re
from pathlib import Path

import pytest

from accounts.models import User
from infra.changes.models import DiscardedChange
from infra.sharding.buckets import shard_of
from moderation.actions.appeals import file_appeal
from moderation.models import Decision, Report
from moderation.types import DecisionKind
from operations import site
from operations.types import Chapter
from pages.theme import PAGE_SHEET
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.community import Community
from tests.browser.hour import lay_hour
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.integration.timelines.homes import first_page
from tests.people import decide, make_boss, make_member
from tests.world import NOW, drain_all, make_account, publish

ADMIN_SHEET = Path(site.__file__).parent / "static" / "operations" / "admin.css"
TOKEN = re.compile(r"(--[a-z-]+):\s*([^;]+);")


@pytest.fixture
def filled_town(world: None) -> Community:
    filled_town = Community()
    filled_town.fill_lists()
    return filled_town


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_axe_finds_nothing_on_the_main_screens(filled_town: Community, tab_of, size: Size) -> None:
    ben, posts = filled_town.ben, filled_town.make_trouble()
    decide(ben, DecisionKind.FREEZE, ends_at=NOW.replace(year=2099))
    report, tab = filled_town.report(*posts), tab_of(size)
    strike = Decision.objects.filter(account_id=ben, kind=DecisionKind.FREEZE).get()
    appeal = file_appeal(ben, strike.pk, "It was my cousin")
    lay_hour()
    tab.sign_in(make_boss())
    paths = (
        *("", "moderation/report/", f"moderation/report/{report.pk}/change/", "accounts/user/"),
        *(f"accounts/user/{ben}/change/", "moderation/decision/add/", "moderation/appeal/"),
        *("moderation/decision/", "moderation/timedrestriction/", "moderation/jointdecision/"),
        *(f"moderation/several/?report={report.pk}", f"moderation/images/?account={ben}"),
        *("operations/", "find/", "parked/", "jobs/jobrun/", "?curves=day"),
        *("site_texts/sitetexts/", "moderation/report/?queue=all"),
        *(f"moderation/appeal/{appeal.pk}/change/", f"find/account/{ben}/"),
        *(f"chapters/{chapter}/" for chapter in Chapter),
    )
    found = {}
    for path in paths:
        tab.open(f"/admin/{path}")
        found[path] = faults_of(tab)
    lines = [f"{page}: {fault}" for page, faults in found.items() for fault in faults]
    assert not lines, "\n".join(lines)


def test_the_admin_has_the_colours_of_the_pages() -> None:
    pages = dict(TOKEN.findall(PAGE_SHEET.read_text()))
    admin = dict(TOKEN.findall(ADMIN_SHEET.read_text()))
    shared = pages.keys() & admin.keys()
    assert {"--paper", "--ink", "--tide", "--faint", "--line", "--warn"} <= shared
    assert {name: admin[name] for name in shared} == {name: pages[name] for name in shared}


@pytest.fixture
def town(world: None) -> Community:
    return Community()


@pytest.fixture
def seeker(tab: Tab) -> Tab:
    tab.sign_in(make_boss())
    tab.open("/admin/")
    tab.follow("Find an account, a post or an edge")
    tab.at("/admin/find/")
    return tab


def seek(tab: Tab, text: object) -> None:
    tab.fill("Find", str(text))
    tab.press("Find")


def test_accounts_by_name_and_by_id(town: Community, seeker: Tab) -> None:
    for text in ("@ben", town.ben):
        seek(seeker, text)
        seeker.at(f"/admin/find/account/{town.ben}/")
        seeker.see(f"Account {town.ben} · @ben", "Restrictions", "followers")


def test_posts_by_id_and_by_link(town: Community, seeker: Tab) -> None:
    post = town.posts[0].public
    for text in (post, f"{seeker.address}/@ben/{post}"):
        seek(seeker, text)
        seeker.at(f"/admin/find/post/{post}/")
        seeker.see("Morning tide")
    seeker.follow(str(town.ben))
    seeker.at(f"/admin/find/account/{town.ben}/")


def test_edges_by_pair(town: Community, seeker: Tab) -> None:
    seek(seeker, "ann ben")
    seeker.at(f"/admin/find/edge/{town.ann}/{town.ben}/")
    seeker.see("follow", "agrees")


def test_what_may_mean_two_things_is_asked_back(town: Community, seeker: Tab) -> None:
    namesake = make_account(str(town.ben))
    seek(seeker, town.ben)
    seeker.see("This may mean:")
    seeker.follow(f"Account {namesake}")
    seeker.at(f"/admin/find/account/{namesake}/")


def test_what_nothing_is_called(seeker: Tab) -> None:
    seek(seeker, "<b>nobody</b>")
    seeker.see("Nothing found")
    seeker.expect(seeker.find("#ops-q")).to_have_value("<b>nobody</b>")


@pytest.fixture
def mender(tab: Tab) -> Tab:
    tab.sign_in(make_boss())
    return tab


def test_a_home_that_lacks_a_post_is_rebuilt(town: Community, mender: Tab) -> None:
    lost = town.posts[1].public
    town.lose_from_home(town.posts[1])
    mender.open(f"/admin/find/account/{town.ann}/")
    mender.follow("Home timeline")
    mender.at(f"/admin/find/account/{town.ann}/home/")
    mender.see_after_reloads("1 missing, 0 dead, 0 below the low-water mark")
    mender.see("MISSING: it should be stored")
    mender.expect(mender.find("tr.ops-wrong")).to_have_count(1)
    mender.expect(mender.find("tr.ops-wrong")).to_contain_text(lost)
    assert lost not in first_page(town.ann)
    mender.press("Rebuild")
    mender.see(f"+ {lost}")
    mender.see_no("MISSING")
    mender.expect(mender.find("tr.ops-wrong")).to_have_count(0)
    assert lost in first_page(town.ann)


def test_a_parked_change_is_tried_again(town: Community, mender: Tab) -> None:
    post, change = town.park_a_post()
    mender.open("/admin/parked/")
    mender.follow(f"{shard_of(town.ben)}: not known")
    mender.see(f"#{change}", "ValueError: the store of timelines said no")
    mender.see_no("in push, line 12")
    mender.click("td summary")
    mender.see("in push, line 12")
    mender.tick(f"Choose change {change}")
    mender.press("Try again")
    mender.see("1 of 1 put back into the queue", "Nothing is parked here.")
    drain_all()
    assert first_page(town.ann)[0] == post.public


def test_a_parked_change_is_discarded_with_a_reason(town: Community, mender: Tab) -> None:
    alias = shard_of(town.ben)
    _, change = town.park_a_post()
    mender.open(f"/admin/parked/?shard={alias}")
    mender.tick(f"Choose change {change}")
    mender.click("summary >> text=Discard for good…")
    mender.press("Yes, discard them")
    mender.see("Nothing done. Reason: Give a reason")
    mender.tick(f"Choose change {change}")
    mender.fill("Reason", "that post is gone")
    mender.click("summary >> text=Discard for good…")
    mender.press("Yes, discard them")
    mender.see("1 of 1 discarded", "Nothing is parked here.")
    row = DiscardedChange.objects.on(alias).get()
    assert (row.id, row.reason, row.discarded_by) == (change, "that post is gone", "boss")


QUEUE = "/admin/moderation/report/"
FIELDS = "document.querySelectorAll('#decision_form :is(select, input, textarea)')"


@pytest.fixture
def troubled_town(world: None) -> Community:
    troubled_town = Community()
    troubled_town.make_trouble()
    seller = make_account("fay")
    post = publish(seller, "The same boat, half the price")
    Report.objects.create(
        reporter_id=troubled_town.ann,
        account_id=seller,
        category="spam",
        comment="A second account of ben?",
        post_ids=[post.base36],
    )
    troubled_town.report()
    drain_all()
    return troubled_town


@pytest.fixture
def moderator(tab: Tab, troubled_town: Community) -> Tab:
    tab.sign_in(make_member("moderator", "mia"))
    return tab


def test_reports_are_decided_on_at_once(troubled_town: Community, moderator: Tab) -> None:
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


def test_the_first_page_and_a_report_on_a_telephone(troubled_town: Community, tab_of) -> None:
    tab = tab_of(PHONE)
    tab.sign_in(make_boss())
    tab.open("/admin/")
    tab.shoot(SHOTS / "admin-overview-390.png")
    tab.open(f"{QUEUE}{Report.objects.latest('pk').pk}/change/")
    with tab.dark():
        tab.shoot(SHOTS / "admin-report-dark-390.png")
    assert tab.overflow_px() <= 0
    form = tab.find("#decide .mod-kinds")
    tab.expect(form).not_to_be_in_viewport()
    tab.click(".mod-bar >> text=Decide")
    tab.expect(form).to_be_in_viewport()
    tab.open("/admin/moderation/decision/add/")
    rights = tab.run(f"[...{FIELDS}].map((field) => field.getBoundingClientRect().right)")
    assert max(rights) <= PHONE.width - 16, "no field is cut at the edge"
