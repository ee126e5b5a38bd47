"""Lists: one makes a list, adds people from whom one follows, and sees who is on it."""

import pytest

from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.world import drain_all

ROW = ".lists > li:has-text('Harbour')"


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_an_empty_list_offers_people_and_a_full_one_shows_them(
    world: None, tab_of, size: Size
) -> None:
    ann = make_named("ann")
    for name in ("ben", "cora", "dora"):
        follow(ann, make_named(name))
    drain_all()
    tab: Tab = tab_of(size)
    enter(tab, ann)
    tab.open("/lists")
    tab.fill("A new list", "Harbour")
    tab.press("Create")
    tab.expect(tab.find("#found > li")).to_have_count(3)
    assert faults_of(tab) == []
    tab.press("Add @ben")
    tab.expect(tab.find("#timeline li")).to_have_count(1)
    tab.expect(tab.find("#found > li")).to_have_count(0)
    tab.type_into("#words", "co")
    tab.press("Add @cora")
    tab.expect(tab.find("#timeline li")).to_have_count(2)
    assert faults_of(tab) == []
    assert tab.overflow_px() <= 0
    tab.shoot(SHOTS / f"list-edit-{size.width}.png")
    tab.open("/lists")
    tab.expect(tab.find(f"{ROW} small")).to_have_text("2 members")
    tab.expect(tab.find(f"{ROW} img")).to_have_count(2)
    assert faults_of(tab) == []
    tab.shoot(SHOTS / f"lists-{size.width}.png")


def test_an_empty_list_has_a_way_to_people(world: None, tab_of) -> None:
    tab: Tab = tab_of(has_scripts=False)
    enter(tab, make_named("ann"))
    tab.open("/lists")
    tab.fill("A new list", "Harbour")
    tab.press("Create")
    tab.see("You can add people you follow.")
    tab.follow("Done")
    tab.follow("Add people")
    tab.follow("People to follow")
    tab.at("/people")
