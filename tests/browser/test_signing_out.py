"""Sign out is in reach at each width of the window.

What the other tests rely on: that nothing goes wrong on a page unseen.
"""

import pytest

from tests.browser.artifacts import SHOTS
from tests.browser.feeds import enter, make_named, sign_out
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.people import make_boss


@pytest.mark.parametrize("width", [390, 681, 800, 1000, 1140, 1280])
def test_a_person_signs_out(world: None, tab_of, width: int) -> None:
    tab: Tab = tab_of(Size(width, 800))
    enter(tab, make_named("ann"))
    tab.open("/")
    tab.shoot(SHOTS / f"sign-out-{width}.png")
    if width <= 680:
        tab.click(".side nav .menu summary")
        tab.press("Sign out")
    else:
        sign_out(tab, "ann")
    tab.at("/auth/sign_in")


WIDE = """(() => {
  const wide = Object.assign(document.createElement("div"), {textContent: "wide"});
  wide.style.width = "2000px";
  document.body.append(wide);
})()"""
PICTURE = """new Promise((done) => {
  const picture = Object.assign(document.createElement("img"), {src: "/nope.png", onerror: done});
  document.body.append(picture);
})"""


@pytest.fixture
def page(tab: Tab) -> Tab:
    tab.open("/auth/sign_in")
    return tab


def said(page: Tab) -> str:
    """All faults, which are expected here."""
    page.run("new Promise((done) => setTimeout(done, 50))")
    told = "\n".join(page.faults)
    page.faults.clear()
    return told


def test_what_the_content_policy_forbids(page: Tab) -> None:
    page.run("document.body.setAttribute('style', 'color: red')")
    assert "Content Security Policy" in said(page)


def test_what_scripts_raise(page: Tab) -> None:
    page.run("void setTimeout(() => nonsense())")
    assert "raised: nonsense is not defined" in said(page)


def test_what_is_not_there(page: Tab) -> None:
    page.run(PICTURE)
    assert f"404: {page.address}/nope.png" in said(page)


def test_who_does_not_answer(page: Tab) -> None:
    page.refuse("**/nope.png")
    page.run(PICTURE)
    assert "nope.png: net::ERR_CONNECTION_REFUSED" in said(page)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_what_is_wider_than_the_window(tab_of, size) -> None:
    tab = tab_of(size)
    tab.sign_in(make_boss())
    tab.open("/admin/")
    assert tab.overflow_px() <= 0
    tab.run(WIDE)
    assert tab.overflow_px() > 500
