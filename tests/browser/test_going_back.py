"""Back leads to where the reader was, and after a sign-out to nothing of the session before it.

The browser of the tests keeps no whole pages for its Back button, so the event of one that does is
made here.

Images that are opened: above the page, or without scripts as a page.
"""

from typing import Any

import pytest

from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.bringing import bring, describe
from tests.browser.feeds import enter, ids_in, make_named, read_to_end, reading_at, send, sign_out
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.world import publish

KEPT = "dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))"
PRIVATE: dict[str, Any] = {"status": "for followers", "visibility": "private"}


@pytest.fixture
def tab(world: None, tab_of) -> Tab:
    """Of ann, who reads what only followers see."""
    tab: Tab = tab_of()
    enter(tab, ann := make_named("ann"))
    send(tab.address, ann, "statuses", PRIVATE)
    tab.open("/bookmarks")
    tab.open("/")
    tab.see("for followers")
    return tab


def test_back_leads_to_the_post_that_was_read(tab: Tab) -> None:
    """Of 120 entries, three times as many as the page begins with."""
    author = make_named("ben")
    for _ in range(120):
        publish(author)
    tab.open("/@ben")
    read_to_end(tab)
    shown = len(ids_in(tab))
    assert shown == 120
    tab.run("document.querySelectorAll('#timeline > .entry')[100].scrollIntoView()")
    before = reading_at(tab)
    tab.click(f"[data-id='{before[0]}'] .when")
    tab.at(f"/statuses/{before[0]}")
    tab.back()
    tab.at("/@ben")
    tab.wait(f"document.querySelector('[data-id=\"{before[0]}\"]') && scrollY > 1000")
    after = reading_at(tab)
    assert (after[0], abs(after[1] - before[1]) <= 2) == (before[0], True)


def test_back_after_a_sign_out_shows_nothing(tab: Tab) -> None:
    sign_out(tab, "ann")
    tab.at("/auth/sign_in")
    tab.run("history.back()")
    tab.see("Sign in to follow people")
    tab.see_no("for followers")
    tab.run("history.back()")
    tab.expect(tab.page).to_have_url(f"{tab.address}/auth/sign_in?next=%2Fbookmarks")


def test_a_kept_page_is_shown_to_its_session_only(tab: Tab) -> None:
    tab.run(KEPT)
    tab.see("for followers")
    tab.forget()
    tab.run(KEPT)
    tab.see("Sign in to follow people")
    tab.see_no("for followers")


LINKS, OPEN = ".images a", "dialog.viewer[open]"
FOCUSED = "document.activeElement === document.querySelectorAll('.images a')[0]"


def post_two_images(tab: Tab) -> None:
    tab.open("/")
    tab.fill("Your post", "the boats")
    for number, name in enumerate(("one", "two"), 1):
        assert bring(tab, "drop", f"{name}.png")
        tab.expect(tab.find(".attached")).to_have_count(number)
        describe(tab, number, f"Boat {name}")
    tab.press("Post")
    tab.expect(tab.find(LINKS)).to_have_count(2)


def swipe(tab: Tab) -> None:
    """As a finger moves the strip of photos by one."""
    tab.run(f"document.querySelector('{OPEN} .strip').scrollBy(innerWidth, 0)")


def test_a_photo_has_a_blur_until_it_is_loaded(world: None, tab_of) -> None:
    tab: Tab = tab_of()
    enter(tab, make_named("ann"))
    post_two_images(tab)
    tab.expect(tab.find(".images .alt")).to_have_count(2)
    tab.refuse("**/media/**")
    tab.open("/")
    blurs = tab.find(".images .blur")
    tab.expect(blurs).to_have_count(2)
    assert tab.run("document.querySelector('.images .blur').naturalWidth") > 0
    tab.faults.clear()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_an_image_opens_above_the_page(world: None, tab_of, size: Size) -> None:
    tab: Tab = tab_of(size)
    enter(tab, make_named("ann"))
    post_two_images(tab)
    tab.click(".images li:first-child a")
    tab.expect(tab.find(f"{OPEN} .described")).to_have_text("Boat one")
    tab.see("Photo 1 of 2")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / f"viewer-{size.width}.png")
    tab.press("Next")
    tab.expect(tab.find(f"{OPEN} .described")).to_have_text("Boat two")
    tab.type_key("ArrowLeft")
    tab.expect(tab.find(f"{OPEN} .described")).to_have_text("Boat one")
    tab.wait(f"document.querySelector('{OPEN} img').naturalWidth > 0")
    swipe(tab)
    tab.see("Photo 2 of 2")
    tab.type_key("Escape")
    tab.expect(tab.find(OPEN)).to_have_count(0)
    assert tab.run(FOCUSED)


def test_without_scripts_an_image_is_a_page(world: None, tab_of) -> None:
    ann = make_named("ann")
    with_scripts: Tab = tab_of()
    enter(with_scripts, ann)
    post_two_images(with_scripts)
    tab: Tab = tab_of(has_scripts=False)
    enter(tab, ann)
    tab.open("/@ann")
    tab.click(".images li:first-child a")
    tab.see("Photo 1 of 2", "Boat one")
    tab.follow("Next")
    tab.see("Photo 2 of 2", "Boat two")
    tab.follow("Back to the post")
    tab.see("the boats")
