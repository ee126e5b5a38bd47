"""Tags in a browser: follow one, read all that are followed, and have them at home."""

import re

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
    assert "Following: unfollow #tea" in browser.read("/tags/tea")
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
    assert ids_on(page) == [post] and 'action="/tags/tea' not in page
    assert 'href="/auth/sign_in?next=/tags/tea" aria-label="Follow #tea"' in page
    assert guest.client.get("/followed_tags").status_code == 302
    assert guest.send("/tags/tea/follow").status_code == 302
    assert guest.read("/tags/no%20tag", status=404)


def test_the_tabs_of_home_lead_to_them(ann: int) -> None:
    assert '<a href="/followed_tags">Tags</a>' in Browser(ann).read("/")
    page = Browser(ann).read("/followed_tags")
    assert '<a href="/followed_tags" aria-current="page">Tags</a>' in page


def test_a_tag_says_how_much_it_is_used_and_who_used_it(ann: int, post: str) -> None:
    for _ in range(2):
        publish(ann, "more #tea")
    drain_all()
    page = Browser().read("/tags/tea")
    assert "<b>3</b> posts this week" in page and "<b>2</b> people today" in page
    [head] = re.findall(r'class="faces">(.*?)</span>', page)
    assert sorted(re.findall(r'href="/(@\w+)"', head)) == ["@ann", "@bob"]
    # Further down the people are not those of the newest posts.
    assert 'class="faces"' not in Browser().read(f"/tags/tea?max_id={int(post) + 1}")
    unused = Browser(ann).read("/tags/nothing")
    assert "<b>0</b> posts this week" in unused and "today" not in unused
