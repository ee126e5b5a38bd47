"""The main screens of the admin for people who do not see the screen, or do not see it well."""

import re
from pathlib import Path

import pytest

from moderation.types import DecisionKind
from operations import site
from pages.theme import PAGE_SHEET
from tests.browser.axe import faults_of
from tests.browser.community import Community
from tests.browser.tab import DESKTOP, PHONE, Size
from tests.people import decide, make_boss
from tests.world import NOW

ADMIN_SHEET = Path(site.__file__).parent / "static" / "operations" / "admin.css"
TOKEN = re.compile(r"(--[a-z-]+):\s*([^;]+);")


@pytest.fixture
def community(world: None) -> Community:
    community = Community()
    community.fill_lists()
    return community


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_axe_finds_nothing_on_the_main_screens(community: Community, tab_of, size: Size) -> None:
    ben, posts = community.ben, community.make_trouble()
    decide(ben, DecisionKind.FREEZE, ends_at=NOW.replace(year=2099))
    report, tab = community.report(*posts), tab_of(size)
    tab.sign_in(make_boss())
    paths = (
        *("", "moderation/report/", f"moderation/report/{report.pk}/change/", "accounts/user/"),
        *(f"accounts/user/{ben}/change/", "moderation/decision/add/", "moderation/appeal/"),
        *("moderation/decision/", "moderation/timedrestriction/", "moderation/jointdecision/"),
        *(f"moderation/several/?report={report.pk}", f"moderation/images/?account={ben}"),
        *("operations/", "find/", "parked/", "jobs/jobrun/"),
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
