"""Reactions under a post: pressed at once, taken back if it fails, and nothing else moves."""

import pytest

from posts.actions.declare_reaction import declare_reaction
from tests.browser.axe import faults_of
from tests.browser.feeds import enter
from tests.browser.live_site import settle
from tests.browser.tab import DESKTOP, Size, Tab
from tests.world import publish

NARROW = Size(320, 640)
# The same in all tests: the site keeps what it has read of them.
NAMES = ("cooked", "tried", "know", "share")
# Where the buttons and links of all posts are, in quarters of a pixel.
PLACES = """[...document.querySelectorAll(".post :is(.act, .when)")].map((one) => {
  const {x, y, width} = one.getBoundingClientRect();
  return [x, y, width].map((px) => Math.round(4 * px)).join();
})"""


@pytest.fixture
def tab(ann: int, tab_of, delivery: None) -> Tab:
    for name in NAMES:
        declare_reaction(name, {"en": f"{name} it", "de": f"{name} es"}, at_ms=0)
    for number in range(2):
        publish(ann, f"Lentil soup {number}")
    settle()
    tab: Tab = tab_of(NARROW)
    enter(tab, ann)
    tab.open("/")
    return tab


def test_a_reaction_is_shown_at_once_and_nothing_moves(tab: Tab) -> None:
    mark, before = ".entry:has-text('soup 1') .as-tried", tab.run(PLACES)
    tab.expect(tab.find(mark)).to_have_text("tried it")
    with tab.answers_after_s("**/react/tried", 2):
        tab.click(mark)
        tab.wait("document.querySelector('#timeline .as-tried').ariaPressed === 'true'")
    tab.expect(tab.find(f"{mark} span")).to_have_text("1")
    assert tab.run(PLACES) == before and tab.overflow_px() <= 0
    assert tab.run("document.activeElement.matches('.as-tried')")
    tab.click(mark)
    tab.expect(tab.find(f"{mark} span")).to_have_count(0)
    assert tab.run(PLACES) == before


def test_a_refused_reaction_is_taken_back(tab: Tab) -> None:
    mark = ".entry:has-text('soup 1') .as-tried"
    tab.refuse("**/react/tried")
    tab.click(mark)
    tab.see("The server does not answer")
    tab.expect(tab.find(f"{mark}[aria-pressed=false]")).to_have_count(1)
    tab.faults.clear()


def test_the_others_are_in_the_menu_and_those_who_reacted_on_a_page(tab: Tab, ann: int) -> None:
    mark = ".entry:has-text('soup 1') .reactions .as-share"
    tab.expect(tab.find(mark)).to_have_count(0)
    tab.click(".entry:has-text('soup 1') .menu summary")
    tab.click(".entry:has-text('soup 1') .menu .as-share")
    tab.expect(tab.find(f"{mark}[aria-pressed=true]")).to_have_count(1)
    settle()
    tab.click(".entry:has-text('soup 1') .when")
    tab.follow("1 share it")
    tab.see("Reactions: share it")
    tab.expect(tab.find(".people .person").first).to_contain_text("ann")


@pytest.mark.parametrize("size", [DESKTOP, NARROW])
def test_axe_finds_nothing(tab: Tab, ann: int, tab_of, size: Size) -> None:
    tab.click(".entry:has-text('soup 1') .as-tried")
    tab.expect(tab.find(".as-tried[aria-pressed=true]")).to_have_count(1)
    german: Tab = tab_of(size, locale="de-DE")
    enter(german, ann)
    german.open("/")
    german.expect(german.find(".as-cooked").first).to_have_text("cooked es")
    assert faults_of(german) == [] and german.overflow_px() <= 0
