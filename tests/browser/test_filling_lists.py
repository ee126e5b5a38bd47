"""Lists: one makes a list, adds people from whom one follows, and sees who is on it.

Forms whose fields and buttons are in line: of a new list, and of a new account.
"""

import pytest

from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.callers import Caller
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


BOX = "(one) => document.querySelector(one).getBoundingClientRect().toJSON()"
PASSWORD = "[name=password]"


def box_of(tab: Tab, selector: str) -> dict[str, float]:
    box: dict[str, float] = tab.run(f"({BOX})(`{selector}`)")
    return box


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_form_of_a_new_list_is_in_line(world: None, tab_of, size: Size) -> None:
    tab: Tab = tab_of(size)
    ann = make_named("ann")
    assert Caller(ann).post("/api/v1/lists", {"title": "Friends"}).status_code == 200
    enter(tab, ann)
    tab.open("/lists")
    parts = (".inline-form label", "#list-title", ".inline-form button")
    label, field, button = (box_of(tab, part) for part in parts)
    assert label["bottom"] <= field["top"] and abs(label["left"] - field["left"]) <= 1
    assert abs(button["top"] - field["top"]) <= 1 and abs(button["bottom"] - field["bottom"]) <= 1
    assert faults_of(tab) == [] and tab.overflow_px() <= 0
    tab.shoot(SHOTS / f"lists-{size.width}.png")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_button_of_a_sign_up_is_as_wide_as_its_fields(world: None, tab_of, size: Size) -> None:
    tab: Tab = tab_of(size)
    for path in ("/auth/sign_up", "/auth/sign_in"):
        tab.open(path)
        field, button = box_of(tab, PASSWORD), box_of(tab, "form > button")
        assert (field["left"], field["width"]) == (button["left"], button["width"]), path
        assert faults_of(tab) == [], path


def test_a_password_is_shown_and_sent_as_a_password(world: None, tab_of) -> None:
    tab: Tab = tab_of()
    tab.open("/auth/sign_up")
    tab.type_into(PASSWORD, "a fine word")
    field = tab.find(PASSWORD)
    tab.press("Show what you type")
    tab.expect(field).to_have_attribute("type", "text")
    tab.expect(tab.find(".reveal")).to_have_attribute("aria-pressed", "true")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "sign-up-shown-1280.png")
    tab.press("Show what you type")
    tab.expect(field).to_have_attribute("type", "password")
    tab.press("Show what you type")
    tab.expect(field).to_have_attribute("type", "text")
    tab.run("document.querySelector('form').addEventListener('submit', (e) => e.preventDefault())")
    tab.run("document.querySelector('form').dispatchEvent(new Event('submit', {cancelable: true}))")
    tab.expect(field).to_have_attribute("type", "password")


def test_without_scripts_no_button_shows_a_password(world: None, tab_of) -> None:
    tab: Tab = tab_of(has_scripts=False)
    tab.open("/auth/sign_up")
    tab.expect(tab.find(".reveal")).not_to_be_visible()
