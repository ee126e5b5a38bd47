"""What trends in a browser: tags and posts, page by page, by the rules of the API.

The search page.
"""

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
from tests.world import drain_all, make_account, make_accounts, publish, restrict
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


def test_one_search_finds_people_posts_and_tags(ann: int) -> None:
    post = publish(make_account("tealover"), "I like tea & #teatime")
    browser = Browser(ann)
    page = browser.read("/search?q=tea")
    assert "/@tealover" in page and ids_on(page) == [post.public]
    only = {kind: browser.read(f"/search?q=tea&type={kind}") for kind in ("accounts", "statuses")}
    assert ids_on(only["statuses"]) == [post.public] and not ids_on(only["accounts"])
    assert "Nothing matches" in browser.read("/search?q=%3Cb%3Exyz")
    assert "<b>xyz" not in browser.read("/search?q=%3Cb%3Exyz")


@pytest.mark.usefixtures("delivered_at_once")
def test_the_page_of_a_tag_in_any_script_has_its_posts(ann: int) -> None:
    for name in ["日本語", "münchen", "Ελληνικά", "café", "plain"]:
        post = publish(ann, f"I write #{name}")
        for browser in (Browser(), Browser(ann)):
            assert ids_on(browser.read(f"/tags/{quote(name)}")) == [post.public], name


@pytest.mark.parametrize("odd", ["😀", "\u0661", "%ff", "%ED%A0%80"])
def test_what_is_no_id_in_any_letters_is_not_found(ann: int, odd: str) -> None:
    browser, path = Browser(ann), quote(odd, safe="%")
    for page in (f"/lists/{path}", f"/lists/{path}/edit", f"/settings/filters/{path}"):
        browser.read(page, 404)


def test_a_search_without_words_is_a_page(ann: int) -> None:
    for browser in (Browser(), Browser(ann)):
        for path in ("/search", "/search?q=", "/search?q=%20"):
            assert "from:me" in browser.read(path)
    Browser().read("/search?type=nothing", 404)
    Browser(ann).read("/search?q=a&type=accounts&offset=x", 422)


def test_guests_are_told_that_posts_need_a_session(ann: int) -> None:
    publish(ann, "tea")
    page = Browser().read("/search?q=ann")
    assert "/@ann" in page and "to search in posts" in page


def test_results_go_on(ann: int) -> None:
    make_accounts(25)
    posts = [publish(ann, "tea").public for _ in range(25)]
    browser = Browser(ann)
    for kind in ("statuses", "accounts"):
        words = "tea" if kind == "statuses" else "person"
        page, seen = browser.read(f"/search?q={words}&type={kind}"), []
        while True:
            seen += ids_on(page) or re.findall(r'class="person" href="/@(person\d+)"', page)
            link = re.search(r'class="older" href="(\?[^"]+)"', page)
            if link is None:
                break
            page = browser.read(f"/search{link[1].replace('&amp;', '&')}")
        assert len(seen) == len(set(seen)) == 25
        assert kind == "accounts" or seen == posts[::-1]


def test_the_page_of_the_search_has_one_field(ann: int) -> None:
    for browser in (Browser(), Browser(ann)):
        for path in ("/search", "/search?q=tea", "/explore"):
            assert browser.read(path).count('action="/search"') == 1, path
