"""The home page: the timeline, the form for a new post, and posts that come in.

The home page opens where the reader stopped, and the page of a catch-up.
"""

import re
import time
from collections.abc import Callable

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from relations.actions.block import block
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.waiting import until
from tests.world import drain_all, make_account, publish

EVIL = "<script>alert(1)</script>"


def test_a_guest_sees_public_posts_and_a_way_in(ann: int, drain: Callable[[], int]) -> None:
    post = publish(ann)
    drain()
    page = Browser().read("/")
    assert ids_on(page) == [post.public]
    assert "/auth/sign_in" in page and "<textarea" not in page


def test_who_is_signed_in_sees_home_and_the_own_account(ann: int, drain: Callable[[], int]) -> None:
    bob, stranger = make_account("bob"), make_account("stranger")
    follow(ann, bob)
    his, _ = publish(bob), publish(stranger)
    drain()
    page = Browser(ann).read("/")
    assert ids_on(page) == [his.public]
    assert "<small>@ann</small>" in page and "Sign out @ann" in page


def test_a_form_that_is_sent_twice_publishes_once(ann: int) -> None:
    browser = Browser(ann)
    [key] = re.findall(r'name="key" value="(\w+)"', browser.read("/"))
    form = {"status": f"my first post {EVIL}", "key": key, "next": "/public"}
    assert [browser.send("/statuses", form)["Location"] for _ in range(2)] == ["/public"] * 2
    page = browser.read("/")
    assert len(ids_on(page)) == 1
    assert EVIL not in page and "my first post" in page
    assert key not in page


@pytest.mark.parametrize("there", ["https://evil.example/", "//evil.example", "javascript:x()", ""])
def test_a_form_never_leads_to_another_site(ann: int, there: str) -> None:
    answer = Browser(ann).send("/statuses", {"status": "hello", "next": there})
    assert answer.status_code == 303 and re.fullmatch(r"/\?sent=\d+", answer["Location"])


def test_an_empty_post_is_refused_with_the_reason(ann: int) -> None:
    answer = Browser(ann).send("/statuses", {"status": ""})
    assert answer.status_code == 422
    assert b'role="alert"' in answer.content and b"blank" in answer.content


def test_names_are_escaped(ann: int) -> None:
    update_profile(ann, ProfileEdit(display_name=EVIL, note=EVIL))
    post = publish(ann)
    for path in ("/public", "/@ann", f"/statuses/{post.public}"):
        assert EVIL not in Browser(ann).read(path)


def test_the_open_page_gets_what_is_new_and_no_more(ann: int, drain: Callable[[], int]) -> None:
    bob = make_account("bob")
    follow(ann, bob)
    old = publish(bob)
    drain()
    browser = Browser(ann)
    assert browser.client.get("/home/new", {"since_id": old.public}).status_code == 204
    new = publish(bob)
    drain()
    part = browser.read(f"/home/new?since_id={old.public}")
    assert ids_on(part) == [new.public]
    assert "<html" not in part
    block(ann, bob)
    assert new.public not in browser.client.get("/home/new").content.decode()


def test_the_open_page_gets_an_own_post_that_belongs_below_its_newest(
    ann: int, drain: Callable[[], int]
) -> None:
    """Ids of one second are in the order of their authors, so the later post may be the lower."""
    bob, now_s = make_account("bob"), time.time()
    follow(ann, bob)
    his = publish(bob, clock_s=lambda: now_s)
    drain()
    browser = Browser(ann)
    browser.read("/")
    asked = f"/home/new?since_id={his.public}&as_of={his.public}"
    assert browser.client.get(asked).status_code == 204
    mine = publish(ann, clock_s=lambda: now_s)
    drain()
    assert mine < his
    assert ids_on(browser.read(asked)) == [mine.public]


def test_pages_go_on_where_the_last_one_ended(ann: int) -> None:
    published = [publish(ann).public for _ in range(45)]
    browser = Browser(ann)
    page, seen = browser.read("/"), []
    while True:
        seen += ids_on(page)
        link = re.search(r'class="older" href="(\?[^"]+)"', page)
        if link is None:
            break
        page = browser.read(f"/{link[1]}")
    assert seen == published[::-1]


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
