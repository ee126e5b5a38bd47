"""The home page: the timeline, the form for a new post, and posts that come in."""

import re
import time
from collections.abc import Callable

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from relations.actions.block import block
from relations.actions.follow import follow
from tests.integration.pages.browsing import Browser, ids_on
from tests.world import make_account, publish

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
