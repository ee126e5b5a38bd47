"""The column on the right: what it shows, to which readers, and that browsers keep it."""

import re
import time
from datetime import UTC, datetime

import pytest

from moderation.actions.decide import decide_on_account
from moderation.types import DecisionKind, DecisionOrigin
from pages.api_client import ApiRefused
from pages.views.sidebar import KEPT_S, MOST_PEOPLE, SidebarPart
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.world import drain_all, make_account, make_accounts, publish
from timelines.trends.actions.compute import compute_trends

OFFERED = re.compile(r'id="aside-(\d+)"')


@pytest.fixture
def offered_people(world: None) -> int:
    """Follows a friend, who follows a person to suggest. #tea trends."""
    offered_people, friend, other = make_accounts(3)
    follow(offered_people, friend)
    follow(friend, other)
    for person in (friend, other, make_account("cyd")):
        publish(person, "a cup of #tea")
    drain_all()
    compute_trends(time.time())
    return offered_people


def test_guests_see_what_trends_and_readers_people_too(offered_people: int) -> None:
    guest, mine = Browser().read("/sidebar"), Browser(offered_people).read("/sidebar?of=x")
    for part in (guest, mine):
        assert 'href="/tags/tea"' in part and "3 posts" in part
    assert "People to follow" in mine and "People to follow" not in guest


def test_guests_cost_no_query_while_the_tags_are_kept(offered_people: int) -> None:
    Browser().read("/sidebar")
    with count_calls() as calls:
        Browser().read("/sidebar")
    assert (calls.statements, calls.round_trips) == ([], 1)


@pytest.mark.parametrize("act", ["follow", "mute", "block"])
def test_a_person_is_not_offered_after_an_act(offered_people: int, act: str) -> None:
    browser = Browser(offered_people)
    offered = OFFERED.findall(browser.read("/sidebar"))
    browser.act(f"/accounts/{offered[0]}/{act}", {"part": "aside"})
    assert offered[0] not in OFFERED.findall(browser.read("/sidebar"))


def test_who_is_followed_already_is_not_offered(offered_people: int) -> None:
    """The directory has active people, also those that the reader follows."""
    followed = make_account("dan")
    publish(followed, "good morning")
    follow(offered_people, followed)
    drain_all()
    assert str(followed) not in OFFERED.findall(Browser(offered_people).read("/sidebar"))
    assert f'id="person-{followed}"' not in Browser(offered_people).read("/people")


def test_people_are_not_offered_twice(offered_people: int) -> None:
    browser = Browser(offered_people)
    [offered] = OFFERED.findall(browser.read("/sidebar"))[:1]
    assert OFFERED.findall(browser.read(f"/sidebar?of=x&without={offered}")).count(offered) == 0
    assert f"&amp;without={make_account('dan')}" in browser.read("/@dan")
    assert "&amp;people=no" in browser.read("/people")
    assert "people=no" not in browser.read("/explore")
    assert "People to follow" not in browser.read("/sidebar?of=x&people=no")


def test_a_button_of_the_column_changes_its_row(offered_people: int) -> None:
    browser = Browser(offered_people)
    offered = OFFERED.findall(browser.read("/sidebar"))
    row = browser.act(f"/accounts/{offered[0]}/follow", {"part": "aside"})
    assert f'<li id="aside-{offered[0]}">' in row and "Following" in row


def test_others_come_up_when_people_are_followed(offered_people: int) -> None:
    for number in range(MOST_PEOPLE):
        publish(make_account(f"active{number}"), "good morning")
    drain_all()
    browser = Browser(offered_people)
    offered = OFFERED.findall(browser.read("/sidebar"))
    assert len(offered) == MOST_PEOPLE
    browser.act(f"/accounts/{offered[0]}/follow", {"part": "aside"})
    after = OFFERED.findall(browser.read("/sidebar"))
    assert len(after) == MOST_PEOPLE and after[:-1] == offered[1:]


def test_browsers_keep_the_part_of_a_guest_only(offered_people: int) -> None:
    kept = {
        account_id: Browser(account_id).client.get("/sidebar", headers={"HX-Request": "true"})
        for account_id in (None, offered_people)
    }
    assert kept[None]["Cache-Control"] == f"private, max-age={KEPT_S}"
    assert "no-store" in kept[offered_people]["Cache-Control"]


def test_pages_ask_for_the_part_of_their_session(offered_people: int) -> None:
    first, second = (
        Browser(account_id).read("/") for account_id in (offered_people, make_account())
    )
    mark = 'hx-get="/sidebar?of='
    assert first.partition(mark)[2][:16] != second.partition(mark)[2][:16]


def test_browsers_do_not_keep_a_refusal(
    offered_people: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ApiRefused(503, "away", {})

    monkeypatch.setattr(SidebarPart, "get", refuse)
    answer = Browser(offered_people).client.get("/sidebar", headers={"HX-Request": "true"})
    assert answer.status_code == 503
    assert "no-store" in answer["Cache-Control"] and "max-age" not in answer["Cache-Control"]


@pytest.mark.parametrize("act", ["block", "mute", "follow"])
def test_a_person_is_not_offered_after_an_act_of_another_client(
    offered_people: int, act: str
) -> None:
    browser = Browser(offered_people)
    [offered, *_] = OFFERED.findall(browser.read("/sidebar"))
    Caller(offered_people).post(f"/api/v1/accounts/{offered}/{act}")
    assert offered not in OFFERED.findall(browser.read("/sidebar"))


def test_a_person_whom_another_client_dismissed_is_not_offered(offered_people: int) -> None:
    browser = Browser(offered_people)
    [offered, *_] = OFFERED.findall(browser.read("/sidebar"))
    assert Caller(offered_people).delete(f"/api/v1/suggestions/{offered}").status_code == 200
    assert offered not in OFFERED.findall(browser.read("/sidebar"))


def test_a_person_who_blocks_the_reader_is_not_offered(offered_people: int) -> None:
    browser = Browser(offered_people)
    [offered, *_] = OFFERED.findall(browser.read("/sidebar"))
    Caller(int(offered)).post(f"/api/v1/accounts/{offered_people}/block")
    drain_all()
    assert offered not in OFFERED.findall(browser.read("/sidebar"))


@pytest.mark.parametrize("kind", [DecisionKind.LIMIT, DecisionKind.SUSPEND])
def test_a_person_is_not_offered_after_a_decision_of_moderators(
    offered_people: int, kind: DecisionKind
) -> None:
    browser = Browser(offered_people)
    [offered, *_] = OFFERED.findall(browser.read("/sidebar"))
    origin = DecisionOrigin(None, "spam")
    decide_on_account(int(offered), kind, origin, datetime.now(UTC))
    drain_all()
    assert offered not in OFFERED.findall(browser.read("/sidebar"))


def test_a_person_who_wants_to_be_found_no_more_is_not_offered(offered_people: int) -> None:
    browser = Browser(offered_people)
    [offered, *_] = OFFERED.findall(browser.read("/sidebar"))
    Caller(int(offered)).client.patch(
        "/api/v1/accounts/update_credentials", b'{"discoverable":false}', "application/json"
    )
    assert offered not in OFFERED.findall(browser.read("/sidebar"))
