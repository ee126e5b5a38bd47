"""Every page counts for the address of a guest, also one that asks the API nothing; and no cache
keeps one.
"""

import pytest
from django.conf import LazySettings
from django.test import Client

from accounts.api import quotas
from accounts.api.quotas import QUOTA_PERIOD_S
from infra.caching.quotas import Quotas
from pages.sessions import COOKIE
from tests.integration.pages.browsing import Browser
from tests.integration.pages.routes import Page, list_pages
from tests.world import make_account, publish

MOST = 3
HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture(autouse=True)
def few(world: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each address may ask MOST times, in one window."""
    settings.QUOTA_PER_ADDRESS = MOST
    monkeypatch.setattr(quotas, "quotas", Quotas(QUOTA_PERIOD_S))
    monkeypatch.setattr(quotas.REFUSED_TOKENS, "_quotas", Quotas(QUOTA_PERIOD_S))
    monkeypatch.setattr("accounts.api.quotas.time.time", lambda: 1_800_000_000.0)


@pytest.mark.parametrize("cookie", ["", "made up"])
def test_an_address_that_asks_too_often_is_refused_on_every_page(cookie: str) -> None:
    pages = list_pages(make_account("ann"), publish(make_account(), "#tea"))
    asked = {page: _ask(page, f"192.0.2.{n}", cookie) for n, page in enumerate(pages)}
    assert {page: all_ for page, all_ in asked.items() if all_[-1] != 429 or 429 in all_[:-1]} == {}


def _ask(page: Page, address: str, cookie: str) -> list[int]:
    """The statuses of one more than MOST."""
    client = Client(REMOTE_ADDR=address)
    statuses = []
    for _ in range(MOST + 1):
        client.cookies[COOKIE] = cookie  # an answer may have removed it
        statuses.append(getattr(client, page.method)(page.path).status_code)
    return statuses


def test_no_page_is_shared_or_shown_again_without_asking(settings: LazySettings) -> None:
    settings.QUOTA_PER_ADDRESS = 1_000
    pages = list_pages(ann := make_account("ann"), publish(ann, "#tea"))
    for browser in (Client(), Browser(ann).client):
        asked = {page: getattr(browser, page.method)(page.path) for page in pages}
        shown = {page: answer for page, answer in asked.items() if answer.status_code != 404}
        heads = {page: answer.get("Cache-Control", "") for page, answer in shown.items()}
        # The column beside a page is kept for a while; its address has the mark of the session.
        careful = ("no-store", "private, no-cache", "no-cache, private", "private, max-age=120")
        assert [page for page, head in heads.items() if not any(c in head for c in careful)] == []


def test_the_refusal_says_when_to_come_back() -> None:
    pages = [Client().get("/auth/sign_in", REMOTE_ADDR=HERE) for _ in range(MOST + 1)]
    assert [page.status_code for page in pages] == [200] * MOST + [429]
    assert 0 < int(pages[-1]["Retry-After"]) <= QUOTA_PERIOD_S
    assert b"Too many requests" in pages[-1].content
    assert Client().get("/auth/sign_in", REMOTE_ADDR=THERE).status_code == 200
