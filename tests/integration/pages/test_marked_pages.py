"""Bookmarks, favourites, and who responded to a post."""

import re

import pytest

from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.world import make_accounts, publish


@pytest.mark.parametrize("act", ["bookmark", "favourite"])
def test_marked_posts_are_listed_with_the_older_ones_a_link_away(ann: int, act: str) -> None:
    posts = [publish(ann).public for _ in range(21)]
    browser = Browser(ann)
    assert "You have" in browser.read(f"/{act}s")
    for post in posts:
        browser.act(f"/statuses/{post}/{act}")
    page = browser.read(f"/{act}s")
    [link] = re.findall(r'class="older" href="(\?[^"]+)"', page)
    assert ids_on(page) + ids_on(browser.read(f"/{act}s{link}")) == posts[::-1]
    assert Browser().client.get(f"/{act}s")["Location"].startswith("/auth/sign_in")


@pytest.mark.usefixtures("delivered_at_once")
def test_the_people_who_responded_are_listed(ann: int) -> None:
    post, (bob, cyd) = publish(ann), make_accounts(2)
    path = f"/statuses/{post.public}"
    for page in ("reposts", "favourites"):
        assert "There are no" in Browser().read(f"{path}/{page}")
    Caller(bob).post(f"/api/v1{path}/reblog")
    Caller(cyd).post(f"/api/v1{path}/favourite")
    names = [Caller(one).get("/api/v1/accounts/verify_credentials").json() for one in (bob, cyd)]
    for page, name in zip(("reposts", "favourites"), names, strict=True):
        shown = re.findall(r'class="person" href="/@(\w+)"', Browser().read(f"{path}/{page}"))
        assert shown == [name["acct"]]
    Browser().read("/statuses/zz/reposts", 404)
