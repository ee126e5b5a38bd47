"""Images that are opened: above the page, or without scripts as a page."""

import pytest

from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.bringing import bring, describe
from tests.browser.feeds import enter, make_named
from tests.browser.tab import DESKTOP, PHONE, Size, Tab

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
