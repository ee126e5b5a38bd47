"""A person follows a tag and has its posts at home. A wide page shows what else one may read."""

import time

import pytest

from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.world import drain_all, publish
from timelines.trends.actions.compute import compute_trends


@pytest.fixture(autouse=True)
def talk(ann: int, ben: int) -> None:
    """Ann follows no account but ben, who follows cora. All talk about #harbour."""
    cora, dan = map(make_named, ("cora", "dan"))
    follow(ann, ben)
    follow(ben, cora)
    for person in (ben, cora, dan):
        publish(person, "We talk about #harbour")
    drain_all()
    compute_trends(time.time())


@pytest.mark.parametrize("size", [DESKTOP, PHONE, Size(360, 800)])
def test_a_tag_is_followed_and_comes_home(ann: int, tab_of, size: Size) -> None:
    tab: Tab = tab_of(size)
    enter(tab, ann)
    tab.open("/tags/harbour")
    tab.see("3 posts this week", "3 people today")
    tab.expect(tab.find(".of-tag .faces img")).to_have_count(3)
    assert tab.overflow_px() <= 0 and faults_of(tab) == []
    tab.shoot(SHOTS / f"tag-{size.width}.png")
    tab.press("Follow #harbour")
    tab.expect(tab.find(".of-tag button")).to_have_text("Following")
    tab.follow("Followed tags")
    tab.at("/followed_tags")
    tab.see("Show posts with these tags at home too")
    assert tab.overflow_px() <= 0 and faults_of(tab) == []
    tab.shoot(SHOTS / f"followed-tags-{size.width}.png")
    tab.click("input[name=home]")
    tab.press("Save")
    tab.open("/")
    assert tab.run("document.querySelectorAll('.entry').length") == 3
    tab.shoot(SHOTS / f"home-with-tags-{size.width}.png")


def test_the_column_on_the_right_is_for_wide_screens_only(ann: int, tab_of) -> None:
    wide: Tab = tab_of(DESKTOP)
    enter(wide, ann)
    wide.open("/")
    wide.see("Trending", "People to follow", "cora")
    assert faults_of(wide) == [] and wide.overflow_px() <= 0
    wide.shoot(SHOTS / "sidebar.png")
    narrow: Tab = tab_of(PHONE)
    enter(narrow, ann)
    narrow.open("/")
    names = narrow.run("performance.getEntriesByType('resource').map((one) => one.name)")
    assert not [name for name in names if "/sidebar" in name]
