"""Back leads to where the reader was, and after a sign-out to nothing of the session before it.

The browser of the tests keeps no whole pages for its Back button, so the event of one that does is
made here.
"""

from typing import Any

import pytest

from tests.browser.feeds import enter, ids_in, make_named, read_to_end, reading_at, send, sign_out
from tests.browser.tab import Tab
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
