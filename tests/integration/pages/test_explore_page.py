"""What trends in a browser: tags and posts, page by page, by the rules of the API."""

import re
import time
from urllib.parse import quote

import pytest

from accounts.types import Restriction
from posts.actions.mark_post import mark_post
from posts.ids import PostId
from posts.types import Kind
from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.people import cast
from tests.world import drain_all, publish, restrict
from timelines.trends.actions.compute import compute_trends

MORE = re.compile(r'class="older" href="\?([^"]*)"')


people = cast(4)


def compute() -> None:
    drain_all()
    compute_trends(time.time())


def trend(author: int, fans: list[int], text: str) -> PostId:
    post = publish(author, text)
    for fan in fans:
        mark_post(fan, post, Kind.FAVOURITE, True)
    return post


def test_a_quiet_site_says_so(people: list[int]) -> None:
    for browser in (Browser(), Browser(people[0])):
        page = browser.read("/explore")
        assert "Nothing trends right now." in page and "Trending tags" not in page
        assert 'href="/explore" aria-current="page"' in page


def test_tags_and_posts_that_trend_are_shown_to_all(people: list[int]) -> None:
    ann, *others = people
    for person in people:
        publish(person, "low #grünkohl")
    post = trend(ann, others, "the best of today")
    compute()
    for browser in (Browser(), Browser(others[0])):
        page = browser.read("/explore")
        assert f'href="/tags/{quote("grünkohl")}"' in page and "4 posts</small>" in page
        assert ids_on(page) == [post.public] and "the best of today" in page


def test_what_may_not_be_suggested_is_left_out(people: list[int]) -> None:
    ann, *others = people
    trend(ann, others, "the best of today")
    compute()
    restrict(ann, Restriction.SUSPENDED)
    drain_all()
    assert "the best of today" not in Browser().read("/explore")


def test_more_posts_follow_without_the_tags_and_with_scripts_without_the_frame(
    people: list[int],
) -> None:
    ann, *others = people
    posts = [trend(ann, others, f"number {n} #tea") for n in range(21)]
    for person in others:
        publish(person, "more #tea")
    compute()
    browser = Browser(ann)
    first = browser.read("/explore")
    [query] = MORE.findall(first)
    second = browser.read(f"/explore?{query}")
    assert ids_on(browser.read("/explore?offset=")) == ids_on(first)
    assert "Trending tags" in first and "Trending tags" not in second
    ids = [*ids_on(first), *ids_on(second)]
    assert sorted(ids) == sorted(post.public for post in posts) and len(ids_on(second)) == 1
    assert MORE.findall(second) == []
    part = browser.client.get(f"/explore?{query}", headers={"HX-Request": "true"})
    assert b"<nav" not in part.content and ids_on(part.content.decode()) == ids_on(second)


@pytest.mark.parametrize("offset", ["-1", "x", "99999"])
def test_a_place_that_is_none_is_refused(people: list[int], offset: str) -> None:
    status = Caller(None).get("/api/v1/trends/statuses", {"offset": offset}).status_code
    assert 400 <= status < 500
    Browser().read(f"/explore?offset={offset}", status)
