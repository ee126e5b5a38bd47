"""A database does not answer: pages say so, and nothing that was typed is lost."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape

import pytest

from infra.sharding.bounded.breaker import breaker_of
from infra.sharding.buckets import shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.world import publish

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
TEXT = "first line\n<b>second</b> & third"
FORM = {"status": TEXT, "key": "k1", "visibility": "unlisted", "with_warning": "on"}


@contextmanager
def silent(alias: str) -> Iterator[None]:
    breaker_of(alias).is_open = True
    try:
        yield
    finally:
        breaker_of(alias).is_open = False


@pytest.fixture
def browser(ann: int) -> Browser:
    browser = Browser(ann)
    browser.read("/")
    browser.client.raise_request_exception = False
    return browser


def test_what_was_typed_is_kept_and_can_be_sent_again(ann: int, browser: Browser) -> None:
    for _ in range(2):
        with silent(shard_of(ann)):
            answer = browser.send("/statuses", FORM)
        page = answer.content.decode()
        assert (answer.status_code, answer["Retry-After"]) == (503, "2")
        assert "&lt;b&gt;second&lt;/b&gt; &amp; third</textarea>" in page
        kept = {name: unescape(value) for name, value in HIDDEN.findall(page)}
        assert {name: kept[name] for name in FORM} == FORM
        assert browser.send("/statuses", kept).status_code == 303
    [post] = Caller(ann).get(f"/api/v1/accounts/{ann}/statuses").json()
    assert (post["visibility"], "second" in post["content"]) == ("unlisted", True)


@pytest.mark.parametrize("path", ["/compose/images", "/statuses/{}/edit"])
def test_all_forms_of_a_post_keep_it(ann: int, browser: Browser, path: str) -> None:
    post = publish(ann)
    with silent(shard_of(ann)):
        answer = browser.send(path.format(post.public), FORM)
    assert answer.status_code == 503 and "third</textarea>" in answer.content.decode()


@pytest.mark.parametrize("path", ["/auth/sign_in", "/auth/sign_up", "/oauth/authorize", "/admin/"])
def test_a_page_of_its_own_says_that_a_database_does_not_answer(
    browser: Browser, path: str
) -> None:
    browser.client.cookies["sessionid"] = "a session of Django"
    sent = {"username": "eve", "password": "long enough", "email": "e@x.org", "agreement": "on"}
    with silent(GLOBAL_ALIAS):
        answers = [browser.client.post(path, sent), browser.client.get(path)]
    refused = [one for one in answers if one.status_code != 200]
    assert refused and {one.status_code for one in refused} == {503}
    for one in refused:
        page = one.content.decode()
        assert 'role="alert"' in page and "page.css" in page
        assert (one["Retry-After"], one["Cache-Control"]) == ("2", "no-store")
