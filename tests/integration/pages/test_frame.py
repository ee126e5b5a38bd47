"""The frame of a page comes with its first question, and has what its token may read."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError

from accounts.api import quotas
from pages import frame
from pages.sessions import COOKIE
from posts.actions.mark_post import mark_post
from posts.types import Kind
from tests.callers import token_of
from tests.integration.pages.browsing import Browser
from tests.world import make_account, publish

UNREAD = '1<span class="unseen"> unread</span>'


@pytest.fixture
def told(ann: int, drain: Callable[[], int]) -> int:
    """ann, with one unread notification."""
    mark_post(make_account("bob"), publish(ann), Kind.FAVOURITE, True)
    drain()
    return ann


def browser_with(account_id: int, scope: str) -> Browser:
    """Its cookie has a token of another application."""
    browser = Browser()
    browser.client.cookies[COOKIE] = token_of(account_id, scope)
    return browser


@pytest.mark.parametrize("path", ["/", "/settings", "/public", "/notifications"])
def test_each_page_says_who_is_signed_in_and_what_is_unread(told: int, path: str) -> None:
    page = Browser(told).read(path)
    assert "<small>@ann</small>" in page and UNREAD in page


def test_the_account_pays_for_a_question_once(
    told: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one window, and not in what other tests have left of it to an account with this id.

    A process that knows nothing of the site yet asks for that, too.
    """
    Browser(told).read("/")
    settings.QUOTA_PER_ACCOUNT = 3
    monkeypatch.setattr(quotas, "quotas", quotas.Quotas(quotas.QUOTA_PERIOD_S))
    monkeypatch.setattr("accounts.api.quotas.time.time", lambda: 1_800_000_000.0)
    browser = Browser(told)
    for _ in range(3):
        browser.read("/")
    browser.read("/", status=429)


def test_a_token_that_may_not_read_who_it_is_gets_no_page(told: int) -> None:
    for path in ("/", "/settings/appearance", "/public"):
        browser_with(told, "read:statuses").read(path, status=403)


def test_a_page_is_worth_more_than_its_numbers(told: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert UNREAD in browser_with(told, "read").read("/")
    assert UNREAD not in browser_with(told, "profile read:statuses").read("/")

    def fail(*_: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(frame, "count_groups", fail)
    assert UNREAD not in Browser(told).read("/")
