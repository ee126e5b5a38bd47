"""The column on the right: what it shows, to which readers, and that browsers keep it."""

import time

import pytest

from pages.api_client import ApiRefused
from pages.views.sidebar import KEPT_S, SidebarPart
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.pages.browsing import Browser
from tests.world import drain_all, make_account, make_accounts, publish
from timelines.trends.actions.compute import compute_trends


@pytest.fixture
def reader(world: None) -> int:
    """Follows a friend, who follows a person to suggest. #tea trends."""
    reader, friend, other = make_accounts(3)
    follow(reader, friend)
    follow(friend, other)
    for person in (friend, other, make_account("cyd")):
        publish(person, "a cup of #tea")
    drain_all()
    compute_trends(time.time())
    return reader


def test_guests_see_what_trends_and_readers_people_too(reader: int) -> None:
    guest, mine = Browser().read("/sidebar"), Browser(reader).read("/sidebar?of=x")
    for part in (guest, mine):
        assert 'href="/tags/tea"' in part and "3 posts" in part
    assert "People to follow" in mine and "People to follow" not in guest


def test_guests_cost_no_query_while_the_tags_are_kept(reader: int) -> None:
    Browser().read("/sidebar")
    with count_calls() as calls:
        Browser().read("/sidebar")
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_browsers_keep_it_and_pages_ask_for_their_own(reader: int) -> None:
    browser = Browser(reader)
    answer = browser.client.get("/sidebar", headers={"HX-Request": "true"})
    assert answer["Cache-Control"] == f"private, max-age={KEPT_S}"
    first, second = (Browser(account_id).read("/") for account_id in (reader, make_account()))
    mark = 'hx-get="/sidebar?of='
    assert first.partition(mark)[2][:16] != second.partition(mark)[2][:16]


def test_browsers_do_not_keep_a_refusal(reader: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ApiRefused(503, "away", {})

    monkeypatch.setattr(SidebarPart, "get", refuse)
    answer = Browser(reader).client.get("/sidebar", headers={"HX-Request": "true"})
    assert answer.status_code == 503
    assert "no-store" in answer["Cache-Control"] and "max-age" not in answer["Cache-Control"]
