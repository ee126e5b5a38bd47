"""The search page."""

import re
from urllib.parse import quote

import pytest

from tests.integration.pages.browsing import Browser, ids_on
from tests.world import make_account, make_accounts, publish


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
