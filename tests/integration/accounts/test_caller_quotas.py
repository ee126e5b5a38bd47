"""Quotas over HTTP: headers, 429, and which quota a request counts for."""

from datetime import datetime

import orjson
import pytest
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.api import quotas as module
from accounts.api.quotas import QUOTA_PERIOD_S, client_network
from accounts.models import Application
from infra.caching.quotas import Quotas
from tests.budgets import count_calls
from tests.callers import Caller
from tests.world import make_account, make_accounts

HOME = "/api/v1/timelines/home"
PUBLIC = "/api/v1/instance"


@pytest.fixture(autouse=True)
def fresh(world: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.QUOTA_PER_ACCOUNT, settings.QUOTA_PER_APPLICATION = 5, 1_000
    settings.QUOTA_PER_ADDRESS = 3
    monkeypatch.setattr(module, "quotas", Quotas(QUOTA_PERIOD_S))
    # The middle of a period: none of these tests runs over its end.
    monkeypatch.setattr("accounts.api.quotas.time.time", lambda: 1_800_000_000 + QUOTA_PERIOD_S / 2)


def statuses(caller: Caller, times: int, path: str = HOME) -> list[int]:
    return [caller.get(path).status_code for _ in range(times)]


def test_every_answer_says_what_is_left() -> None:
    caller = Caller(make_account())
    answers = [caller.get(HOME), caller.get(f"{HOME}?max_id=bad")]
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["4", "3"]
    assert {answer["X-RateLimit-Limit"] for answer in answers} == {"5"}
    reset = datetime.fromisoformat(answers[0]["X-RateLimit-Reset"])
    assert reset.timestamp() == 1_800_000_000 + QUOTA_PERIOD_S


def test_beyond_the_quota_is_429_and_says_when_to_come_back() -> None:
    caller = Caller(make_account())
    assert statuses(caller, 6) == [200] * 5 + [429]
    answer = caller.get(HOME)
    assert orjson.loads(answer.content) == {"error": "Too many requests"}
    assert (answer["X-RateLimit-Remaining"], answer["Retry-After"]) == ("0", "150")


def test_a_quota_that_another_process_has_used_up_refuses_a_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The read asks for its quota together with what it reads."""
    caller = Caller(make_account())
    assert statuses(caller, 5) == [200] * 5
    monkeypatch.setattr(module, "quotas", Quotas(QUOTA_PERIOD_S))
    answer = caller.get(HOME)
    assert orjson.loads(answer.content) == {"error": "Too many requests"}
    assert (answer.status_code, answer["X-RateLimit-Remaining"]) == (429, "0")


def test_a_read_asks_for_its_quota_together_with_what_it_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caller = Caller(make_account())
    statuses(caller, 2)
    monkeypatch.setattr(module, "quotas", Quotas(QUOTA_PERIOD_S))
    with count_calls() as calls:
        assert caller.get(HOME)["X-RateLimit-Remaining"] == "2"
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_a_refused_write_writes_nothing() -> None:
    ann, bob = make_accounts(2)
    caller = Caller(ann)
    statuses(caller, 5)
    assert caller.post(f"/api/v1/accounts/{bob}/follow").status_code == 429
    assert statuses(Caller(bob), 1) == [200], "others go on"


def test_an_application_pays_for_all_its_users() -> None:
    ann, bob = make_accounts(2)
    Application.objects.get_or_create(name="Tests", defaults={"scopes": "read write follow"})
    Application.objects.filter(name="Tests").update(quota=4)
    assert statuses(Caller(ann), 3) == [200] * 3
    assert statuses(Caller(bob), 2) == [200, 429]


def test_without_a_token_the_address_pays() -> None:
    client = Client()
    assert [client.get(PUBLIC).status_code for _ in range(4)] == [200] * 3 + [429]
    assert Client(REMOTE_ADDR="10.0.0.9").get(PUBLIC).status_code == 200


def test_the_address_is_what_our_own_proxies_saw(settings: Settings) -> None:
    for proxies, sent, address in [
        (0, "6.6.6.6", "10.0.0.1"),
        (1, "6.6.6.6, 1.2.3.4", "1.2.3.4"),
        (2, "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
        (3, "1.2.3.4", "1.2.3.4"),
        (1, "", "10.0.0.1"),
        (1, "2001:db8:1:2:3::4", "2001:db8:1:2::"),
        (1, "2001:DB8:1:2:ffff::", "2001:db8:1:2::"),
        (1, "::ffff:1.2.3.4", "1.2.3.4"),
        (1, "1.2.3.4:5000", "1.2.3.4"),
        (1, "[2001:db8:1:2:3::4]:5000", "2001:db8:1:2::"),
        (1, "unknown", "10.0.0.1"),
        (1, "1" * 100, "10.0.0.1"),
    ]:
        settings.TRUSTED_PROXIES = proxies
        headers = {"X-Forwarded-For": sent} if sent else {}
        request = RequestFactory().get("/", headers=headers, REMOTE_ADDR="10.0.0.1")
        assert client_network(request) == address, (proxies, sent, address)
