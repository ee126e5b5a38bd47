"""Back after a sign-out shows nothing of the session before it.

The browser of the tests keeps no whole pages for its Back button, so the event of one that does is
made here.
"""

from typing import Any

import pytest

from tests.browser.feeds import enter, make_named, send
from tests.browser.tab import Tab

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


def test_back_after_a_sign_out_shows_nothing(tab: Tab) -> None:
    tab.press("Sign out @ann")
    tab.at("/auth/sign_in")
    tab.run("history.back()")
    tab.see("Sign in to follow people")
    tab.see_no("for followers")
    tab.run("history.back()")
    tab.expect(tab.page).to_have_url(f"{tab.address}/auth/sign_in?next=/bookmarks")


def test_a_kept_page_is_shown_to_its_session_only(tab: Tab) -> None:
    tab.run(KEPT)
    tab.see("for followers")
    tab.forget()
    tab.run(KEPT)
    tab.see("Sign in to follow people")
    tab.see_no("for followers")
