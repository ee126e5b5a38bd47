"""Tags in a browser: follow one, read all that are followed, and have them at home."""

import pytest

from tests.integration.pages.browsing import Browser, ids_on
from tests.world import drain_all, make_account, publish


@pytest.fixture
def post(world: None) -> str:
    made = publish(make_account("bob"), "a cup of #Tea").public
    drain_all()
    return made


def test_a_tag_is_followed_and_left_on_its_page(ann: int, post: str) -> None:
    browser = Browser(ann)
    page = browser.read("/tags/Tea")
    assert ids_on(page) == [post] and 'action="/tags/Tea/follow"' in page
    assert browser.send("/tags/Tea/follow").status_code == 303
    page = browser.read("/followed_tags")
    assert ids_on(page) == [post] and 'href="/tags/Tea"' in page
    assert "Unfollow this tag" in browser.read("/tags/Tea")
    assert browser.send("/tags/Tea/unfollow").status_code == 303
    assert "Follow a tag, and public posts" in browser.read("/followed_tags")


def test_home_shows_them_after_the_choice(ann: int, post: str) -> None:
    browser = Browser(ann)
    browser.send("/tags/tea/follow")
    assert ids_on(browser.read("/")) == []
    assert 'name="home">' in browser.read("/followed_tags")
    browser.send("/followed_tags/home", {"home": "on"})
    assert 'name="home" checked>' in browser.read("/followed_tags")
    assert ids_on(browser.read("/")) == [post]
    browser.send("/followed_tags/home")
    assert ids_on(browser.read("/")) == []


def test_guests_read_tags_and_follow_none(ann: int, post: str) -> None:
    guest = Browser()
    page = guest.read("/tags/tea")
    assert ids_on(page) == [post] and "this tag" not in page
    assert guest.client.get("/followed_tags").status_code == 302
    assert guest.send("/tags/tea/follow").status_code == 302
    assert guest.read("/tags/no%20tag", status=404)


def test_the_tabs_of_home_lead_to_them(ann: int) -> None:
    assert '<a href="/followed_tags">Tags</a>' in Browser(ann).read("/")
    page = Browser(ann).read("/followed_tags")
    assert '<a href="/followed_tags" aria-current="page">Tags</a>' in page
