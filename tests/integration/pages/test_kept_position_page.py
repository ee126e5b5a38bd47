"""The home page opens where the reader stopped, and the page of a catch-up."""

import re
import time
from collections.abc import Callable

import pytest

from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.waiting import until
from tests.world import drain_all, make_account, publish

UP = re.compile(r'<a class="button" href="/\?(min_id=\d+)">([^<]+)</a>')


@pytest.fixture
def posts(ann: int, drain: Callable[[], int]) -> list[str]:
    """Of bob, the oldest first."""
    follow(ann, bob := make_account("bob"))
    posts = [publish(bob, f"number {n}").public for n in range(30)]
    drain()
    return posts


def read_until(browser: Browser, post_id: str) -> None:
    answer = browser.send("/home/read", {"last_read_id": post_id, "next": "/"})
    assert (answer.status_code, answer["Location"]) == (303, "/")


def test_home_opens_where_the_reader_stopped_and_leads_up(ann: int, posts: list[str]) -> None:
    browser = Browser(ann)
    assert ids_on(browser.read("/"))[0] == posts[-1]
    read_until(browser, posts[4])
    page = browser.read("/")
    assert ids_on(page) == posts[4::-1]
    assert UP.search(page)[2] == "25 new posts above"
    seen = ids_on(page)
    while up := UP.search(page):
        page = browser.read(f"/?{up[1]}")
        seen = ids_on(page) + seen
    assert seen == posts[::-1]
    assert "data-news" not in page


def test_all_posts_are_read_and_the_newest_are_one_link_away(ann: int, posts: list[str]) -> None:
    browser = Browser(ann)
    read_until(browser, posts[4])
    newest = browser.read("/?newest=1")
    assert ids_on(newest)[0] == posts[-1] and "data-news" in newest
    read_until(browser, posts[-1])
    page = browser.read("/")
    assert ids_on(page)[0] == posts[-1] and UP.search(page) is None


def test_only_posts_above_are_announced_above(ann: int, posts: list[str]) -> None:
    """Posts that arrive late are unread, but their place is further down."""
    browser = Browser(ann)
    read_until(browser, posts[-1])
    follow(ann, cora := make_account("cora"))
    for _ in range(3):
        publish(cora, "late", clock_s=lambda: time.time() - 3_600)
    drain_all()
    until(lambda: unread_count(ann) >= 3)
    page = browser.read("/")
    assert ids_on(page)[0] == posts[-1] and UP.search(page) is None and "data-news" in page
    publish(cora, "new")
    drain_all()
    assert UP.search(browser.read("/"))[2] == "1 new post above"


def unread_count(account_id: int) -> int:
    marker = Caller(account_id).get("/api/v1/markers?timeline[]=home").json()["home"]
    return int(marker["unread_count"])


def test_a_script_moves_the_marker_and_nonsense_is_refused(ann: int, posts: list[str]) -> None:
    browser = Browser(ann)
    script = {"HX-Request": "true"}
    assert browser.send("/home/read", {"last_read_id": posts[3]}, **script).status_code == 204
    marker = Caller(ann).get("/api/v1/markers?timeline[]=home").json()["home"]
    assert marker["last_read_id"] == posts[3]
    assert browser.send("/home/read", {"last_read_id": "x"}).status_code == 422
    for path in ("/?min_id=x", "/?min_id=", "/?min_id=0000010000203z", "/home/new?since_id=x"):
        assert browser.client.get(path).status_code in (200, 204, 422), path


def test_an_older_tab_does_not_move_the_marker_back(ann: int, posts: list[str]) -> None:
    """Its script reports later what is in its window. A button may move the marker back."""
    browser = Browser(ann)
    for place in (20, 5):
        sent = {"last_read_id": posts[place]}
        assert browser.send("/home/read", sent, **{"HX-Request": "true"}).status_code == 204
    assert UP.search(browser.read("/"))[2] == "9 new posts above"
    read_until(browser, posts[5])
    assert UP.search(browser.read("/"))[2] == "24 new posts above"


def is_done(browser: Browser) -> bool:
    """After the button at the end. What arrived a moment before the bound is unread once more, as
    soon as it is known to be late."""
    bounds = re.findall(r'name="bound" value="(\w+)"', browser.read("/catch_up"))[:1]
    for bound in bounds * 2:
        assert browser.send("/catch_up", {"bound": bound})["Location"] == "/"
    is_new = UP.search(browser.read("/")) is not None
    page = browser.read("/catch_up")
    return not is_new and "Nothing is new" in page and "I am done" not in page


def test_a_catch_up_is_read_filtered_and_done(ann: int, posts: list[str]) -> None:
    browser = Browser(ann)
    read_until(browser, posts[4])
    page = browser.read("/catch_up?exclude_reblogs=true")
    assert "<b>25</b> posts" in page and "I am done" not in page
    [older] = re.findall(r'class="older" href="(\?[^"]+)"', page)
    last = browser.read(f"/catch_up{older.replace('&amp;', '&')}")
    assert ids_on(page) + ids_on(last) == posts[:4:-1]
    until(lambda: is_done(browser))
