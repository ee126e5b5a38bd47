"""Limits of addresses on sign-ups, applications, tokens and wrong tokens."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from oauth2_provider.models import get_grant_model
from pytest_django import Settings

from accounts.api import quotas
from accounts.api.quotas import HOUR_S, QUOTA_PERIOD_S
from accounts.models import Application, User
from accounts.queries import tokens
from infra.caching.quotas import Quotas
from tests.callers import Caller, token_of
from tests.integration.accounts.consent import address, fields_of
from tests.integration.accounts.test_tokens import AwayRedis
from tests.sign_ups import PASSWORD, App, Person, bearer
from tests.world import make_account

HOME = "/api/v1/timelines/home"
NOON = 1_800_000_000 + HOUR_S / 2
PERIODS = {
    "SIGN_UPS": HOUR_S,
    "APPLICATIONS": HOUR_S,
    "TOKENS": HOUR_S,
    "REFUSED_TOKENS": QUOTA_PERIOD_S,
}


@pytest.fixture(autouse=True)
def fresh(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted yet, and it is the middle of a period."""
    new_process(monkeypatch)
    monkeypatch.setattr("accounts.api.quotas.time.time", lambda: NOON)


def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process counted so far is now another one's."""
    for name, period_s in PERIODS.items():
        monkeypatch.setattr(getattr(quotas, name), "_quotas", Quotas(period_s))
    monkeypatch.setattr(quotas, "quotas", Quotas(QUOTA_PERIOD_S))


def sign_up(app: App, username: str, address: str = "127.0.0.1") -> Any:
    form = {"username": username, "email": f"{username}@example.org", "password": PASSWORD}
    token = token_of(None, "write")
    client = Client(REMOTE_ADDR=address)
    return client.post(
        "/api/v1/accounts", form | {"agreement": True}, "application/json", **bearer(token)
    )


def test_sign_ups_of_an_address_are_counted_over_all_processes(
    app: App, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SIGN_UPS_PER_ADDRESS = 3
    assert [sign_up(app, name).status_code for name in ("ann", "bob")] == [200, 200]
    new_process(monkeypatch)
    assert [sign_up(app, name).status_code for name in ("cleo", "dan")] == [200, 429]
    assert not User.objects.filter(username="dan").exists()
    assert sign_up(app, "dan")["Retry-After"] == str(HOUR_S // 2)
    assert sign_up(app, "dan", "10.0.0.9").status_code == 200


def test_an_ipv6_network_is_one_address(app: App, settings: Settings) -> None:
    settings.SIGN_UPS_PER_ADDRESS = 1
    assert sign_up(app, "ann", "2001:db8:1:2::1").status_code == 200
    assert sign_up(app, "bob", "2001:db8:1:2:ffff::2").status_code == 429
    assert sign_up(app, "bob", "2001:db8:1:3::1").status_code == 200


def test_registrations_of_an_address_are_counted(client: Client, settings: Settings) -> None:
    settings.APPLICATIONS_PER_ADDRESS = 2
    before = Application.objects.count()
    form = {"client_name": "x", "redirect_uris": "app:/cb"}
    answers = [client.post("/api/v1/apps", form).status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert Application.objects.count() == before + 2


def test_token_requests_of_an_address_are_counted(app: App, settings: Settings) -> None:
    settings.TOKENS_PER_ADDRESS = 2
    answers = [app.ask_token(grant_type="client_credentials").status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert app.ask_token(grant_type="password").json() == {"error": "Too many requests"}


def test_without_redis_each_process_counts_for_itself(
    app: App, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TOKENS_PER_ADDRESS = 2
    monkeypatch.setattr("infra.caching.quotas.redis", AwayRedis)
    ask = {"grant_type": "client_credentials"}
    assert [app.ask_token(**ask).status_code for _ in range(3)] == [200, 200, 429]
    new_process(monkeypatch)
    assert app.ask_token(**ask).status_code == 200


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The checksums that were looked up in the database."""
    seen: list[str] = []
    load = tokens._load

    def counted(checksum: str) -> Any:
        seen.append(checksum)
        return load(checksum)

    monkeypatch.setattr(tokens, "_load", counted)
    yield seen


def test_invented_tokens_are_charged_to_the_address(
    client: Client, settings: Settings, lookups: list[str]
) -> None:
    settings.QUOTA_PER_ADDRESS = 3
    answers = [client.get(HOME, **bearer(f"guess{n}")) for n in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 3 + [429] * 3
    assert len(lookups) == 3, "beyond the limit the database is not asked"
    assert answers[-1]["Retry-After"]
    assert Client(REMOTE_ADDR="10.0.0.9").get(HOME, **bearer("other")).status_code == 401


def test_the_same_wrong_token_is_charged_too(client: Client, settings: Settings) -> None:
    settings.QUOTA_PER_ADDRESS = 3
    statuses = [client.get(HOME, **bearer("guess")).status_code for _ in range(5)]
    assert statuses == [401] * 3 + [429] * 2


def test_known_tokens_work_behind_an_address_that_guesses(
    client: Client, member: Person, settings: Settings
) -> None:
    settings.QUOTA_PER_ADDRESS = 1
    assert member.get(HOME).status_code == 200
    for n in range(3):
        client.get(HOME, **bearer(f"guess{n}"))
    assert member.get(HOME).status_code == 200


def test_a_token_that_no_store_knows_works_behind_an_address_that_guesses(
    client: Client, member: Person, settings: Settings, lookups: list[str]
) -> None:
    settings.QUOTA_PER_ADDRESS = 1
    new = [token_of(member.id), member.app.log_in("ann", "read").json()["access_token"]]
    for n in range(3):
        client.get(HOME, **bearer(f"guess{n}"))
    lookups.clear()
    almost = new[0][:-1] + ("b" if new[0][-1] == "a" else "a")
    assert client.get(HOME, **bearer(almost)).status_code == 429
    assert lookups == []
    assert [client.get(HOME, **bearer(token)).status_code for token in new] == [200, 200]
    assert len(lookups) == 2


def test_a_suspended_login_is_charged_to_the_address(settings: Settings) -> None:
    settings.QUOTA_PER_ADDRESS = 2
    account = make_account("eve")
    User.objects.filter(id=account).update(is_active=False)
    caller = Caller(account)
    assert [caller.get(HOME).status_code for _ in range(3)] == [403, 403, 429]


def test_refused_requests_of_a_known_caller_are_counted(settings: Settings) -> None:
    settings.QUOTA_PER_ACCOUNT = 2
    caller = Caller(make_account(), "write")
    assert [caller.get(HOME).status_code for _ in range(3)] == [403, 403, 429]
    settings.QUOTA_PER_ADDRESS = 2
    assert [Client().get(HOME).status_code for _ in range(3)] == [401, 401, 429]


def test_consent_is_counted_for_the_account(
    reading_app: App, browser: Client, member: Person, settings: Settings
) -> None:
    settings.QUOTA_PER_ACCOUNT = 3
    url = address(reading_app)
    fields = fields_of(browser.get(url))
    answers = [browser.post(url, fields | {"allow": "true"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert b"Please try again later." in answers[-1].content
    assert get_grant_model().objects.count() == 2
    assert browser.get(url).status_code == 429, "an application with a token needs no click"
