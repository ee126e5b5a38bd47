"""The pages for people who use no mouse, and for people who want nothing to move."""

import pytest

from tests.browser.feeds import enter, make_named
from tests.browser.neighbours import make_neighbours
from tests.browser.tab import Tab

pytestmark = pytest.mark.core

# What has the focus: its role in our words, and whether one sees that it has it.
FOCUS = """(() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const isSeen = one.matches(":focus-visible")
    && (style.outlineStyle !== "none" || one.matches(".compose textarea"));
  const label = one.labels?.[0]?.textContent;
  return [one.getAttribute("aria-label") || label || one.textContent.trim(), isSeen];
})()"""
MOVING = """[...document.querySelectorAll("*")].filter((one) => {
  const style = getComputedStyle(one);
  return parseFloat(style.transitionDuration) > 0 || style.animationName !== "none";
}).length"""


@pytest.fixture
def tab(world: None, tab_of, delivery: None) -> Tab:
    """Of ann."""
    ann = int(make_neighbours()["ann"])
    tab: Tab = tab_of()
    enter(tab, ann)
    return tab


def test_home_is_walked_by_keyboard(tab: Tab) -> None:
    tab.open("/")
    walked = []
    for _ in range(45):
        tab.type_key("Tab")
        text, is_seen = tab.run(FOCUS)
        assert is_seen, text
        walked.append(text.split("\n")[0])
    order = [
        "Skip to the posts",
        "Home",
        "Settings",
        "New post",
        "My account",
        "Your post",
        "Reply, 0 replies",
    ]
    places = [
        next((n for n, text in enumerate(walked) if text.startswith(one)), None) for one in order
    ]
    assert places == sorted(places), walked
    tab.open("/")
    tab.type_key("Tab")
    tab.type_key("Enter")
    tab.wait("document.activeElement.id === 'main'")


def test_a_menu_opens_and_closes_by_keyboard(tab: Tab) -> None:
    tab.open("/@ann")
    summary = ".entry .menu summary"
    tab.run(f"document.querySelector('{summary}').focus()")
    tab.type_key("Enter")
    tab.see("Delete…")
    tab.type_key("Tab")
    tab.type_key("Escape")
    tab.see_no("Delete…")
    assert tab.run(f"document.activeElement === document.querySelector('{summary}')")


def test_a_button_keeps_the_focus_while_the_server_does_not_answer(tab: Tab) -> None:
    tab.open("/")
    tab.refuse("**/favourite")
    press_by_key(tab, ".act.favourite")
    tab.see("The server does not answer")
    tab.refuse_nothing()
    tab.type_key("Enter")
    tab.wait("document.activeElement.matches('.act.favourite[aria-pressed=true]')")
    tab.faults.clear()


def test_what_replaces_a_part_takes_its_focus(tab: Tab) -> None:
    tab.open("/")
    # As if its corner was dragged. The content policy forbids attributes with styles.
    tab.run("document.querySelector('#compose-text').style.height = '200px'")
    tab.fill("Your post", "by keyboard")
    press_by_key(tab, "#compose .send")
    tab.see("by keyboard")
    tab.wait("document.activeElement.matches('#compose')")
    tab.type_key("Tab")
    tab.wait("document.activeElement.matches('#compose-text')")
    tab.click(".poll li:first-child input")
    press_by_key(tab, ".poll button")
    tab.wait("document.activeElement.matches('.poll:not(:has(form))')")
    tab.open("/follow_requests")
    press_by_key(tab, ".people button")
    tab.wait("document.activeElement.textContent === 'Follow back'")


def test_the_row_after_a_removed_one_takes_its_focus(tab: Tab) -> None:
    tab.open("/notifications")
    rows = tab.count(tab.find(".note-group"))
    opacity = "getComputedStyle(document.querySelector('.dismiss')).opacity"
    assert tab.run(opacity) == "0"
    tab.run("document.querySelector('.dismiss button').focus()")
    assert tab.run(opacity) == "1"
    press_by_key(tab, ".note-group:first-child .dismiss button")
    tab.expect(tab.find(".note-group")).to_have_count(rows - 1)
    tab.wait("document.activeElement.matches('.note-group:first-child .dismiss button')")


def press_by_key(tab: Tab, selector: str) -> None:
    tab.run(f"document.querySelector('{selector}').focus()")
    tab.type_key("Enter")


def test_nothing_moves_for_who_wants_it_still(world: None, tab_of) -> None:
    tab: Tab = tab_of(is_still=True)
    enter(tab, make_named("ann"))
    tab.open("/")
    assert tab.run(MOVING) == 0
