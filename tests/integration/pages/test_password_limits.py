"""The right password has limits too: each try costs a slow hash, and each sign-in a session."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.test import Client

from accounts.actions.change_password import change_password
from accounts.api import quotas
from accounts.api.quotas import QUOTA_PERIOD_S
from accounts.models import AccessToken, User
from infra.caching.quotas import Quotas
from pages import signing_in
from pages.sessions import COOKIE
from tests.callers import Caller, token_of
from tests.integration.accounts.test_tokens import AwayRedis
from tests.integration.pages.browsing import Browser
from tests.races import failures, run_together
from tests.sign_ups import PASSWORD, App
from tests.world import make_account

SIGN_IN = "/auth/sign_in"
NEW = "another fine word"
HALF_AN_HOUR = 1_800_000_000.0 + 1_800
# What each form sends with the password.
FORMS = {
    SIGN_IN: {"username": "ann", "password": PASSWORD},
    "/settings/password": {"current": PASSWORD, "password": "short"},
    "/settings/email": {"password": PASSWORD, "email": "new@example.org"},
    "/settings/export": {"password": PASSWORD},
    "/settings/delete": {"password": PASSWORD},
}


@pytest.fixture(autouse=True)
def limits_of_production(
    ann_signs_in: int, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is counted yet, it is the middle of a period, and limits are those of production."""
    settings.PASSWORDS_PER_ADDRESS, settings.PASSWORDS_PER_ACCOUNT = 50, 25
    new_process(monkeypatch)
    monkeypatch.setattr("accounts.api.quotas.time.time", lambda: HALF_AN_HOUR)


@pytest.fixture
def hashes(ann: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that were hashed."""
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: Any, password: str, salt: str) -> str:
        hashed.append(password)
        return str(encode(self, password, salt))

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    return hashed


def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process counted so far is now another one's."""
    for limit in (quotas.PASSWORDS, quotas.RIGHT_PASSWORDS, quotas.EMAIL_CHANGES):
        period_s = QUOTA_PERIOD_S if limit is quotas.PASSWORDS else quotas.HOUR_S
        monkeypatch.setattr(limit, "_quotas", Quotas(period_s))
    monkeypatch.setattr(quotas, "quotas", Quotas(QUOTA_PERIOD_S))


def _sign_in(address: str = "127.0.0.1", name: str = "ann") -> Any:
    form = FORMS[SIGN_IN] | {"username": name}
    return Client(REMOTE_ADDR=address).post(SIGN_IN, form)


@pytest.mark.parametrize("path", FORMS)
def test_an_address_tries_so_many_passwords(
    ann: int, settings: LazySettings, hashes: list[str], path: str
) -> None:
    settings.PASSWORDS_PER_ADDRESS = 1
    browser = Browser(ann)
    Client().post(SIGN_IN, {"username": "nobody", "password": "wrong"})
    hashes.clear()
    answer = browser.send(path, FORMS[path])
    assert answer.status_code == 429 and 0 < int(answer["Retry-After"]) <= QUOTA_PERIOD_S
    assert b"Too many requests" in answer.content and hashes == []
    assert User.objects.get(pk=ann).is_active
    assert _sign_in("192.0.2.9").status_code == 302


@pytest.mark.parametrize("path", FORMS)
def test_an_account_is_proved_so_often_from_anywhere(
    ann: int, settings: LazySettings, hashes: list[str], path: str
) -> None:
    settings.PASSWORDS_PER_ACCOUNT = 2
    User.objects.update(email="ann@example.org")
    browser = Browser(ann)
    signed_in = [_sign_in("192.0.2.1"), _sign_in("192.0.2.2", "Ann@example.org")]
    assert [answer.status_code for answer in signed_in] == [302, 302]
    assert _sign_in("192.0.2.3").status_code == 429
    hashes.clear()
    answer = browser.send(path, FORMS[path])
    assert answer.status_code == 429 and 0 < int(answer["Retry-After"]) <= quotas.HOUR_S
    assert hashes == [], "what is known to be used up costs no hash"
    assert browser.read("/"), "who is signed in goes on"


def test_the_password_grant_is_limited_alike(ann: int, hashes: list[str]) -> None:
    app = App.register(Client())
    statuses = [app.log_in("ann").status_code for _ in range(26)]
    assert statuses == [200] * 25 + [429]
    assert app.log_in("ann").json() == {"error": "Too many requests"}
    assert _sign_in("192.0.2.3").status_code == 429
    assert len(hashes) <= 27


def test_a_person_signs_in_on_five_devices_and_on_all_again(ann: int) -> None:
    for _ in range(2):
        devices = [Browser() for _ in range(5)]
        for device in devices:
            assert device.send(SIGN_IN, FORMS[SIGN_IN]).status_code == 302
    for device in devices:
        assert "@ann" in device.read("/")


def test_strangers_with_wrong_passwords_do_not_keep_the_person_out(ann: int) -> None:
    wrong = {"username": "ann", "password": "wrong"}
    for number in range(40):
        Client(REMOTE_ADDR=f"192.0.2.{number}").post(SIGN_IN, wrong)
    assert _sign_in("198.51.100.1").status_code == 302


def test_without_redis_each_process_counts_for_itself(
    ann: int, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PASSWORDS_PER_ACCOUNT = 2
    monkeypatch.setattr("infra.caching.quotas.redis", AwayRedis)
    assert [_sign_in().status_code for _ in range(3)] == [302, 302, 429]
    new_process(monkeypatch)
    assert _sign_in().status_code == 302


def test_the_oldest_session_ends_when_there_are_too_many(
    ann: int, monkeypatch: pytest.MonkeyPatch, drain: Callable[[], int]
) -> None:
    monkeypatch.setattr("accounts.actions.tokens.MAX_SESSIONS", 3)
    reader, browsers = Caller(ann), [Browser() for _ in range(3)]
    bob = Caller(make_account("bob"))
    for browser in browsers:
        browser.send(SIGN_IN, FORMS[SIGN_IN])
    drain()
    path = "/api/v1/accounts/verify_credentials"
    assert reader.get(path).status_code == 401
    assert all("@ann" in browser.read("/") for browser in browsers)
    token_of(ann)
    drain()
    assert browsers[0].client.get("/")["Location"].startswith(SIGN_IN)
    assert browsers[1].read("/") and bob.get(path).status_code == 200


def test_tokens_of_applications_count_too(ann: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.actions.tokens.MAX_SESSIONS", 2)
    app = App.register(Client())
    tokens = [app.log_in("ann").json() for _ in range(3)]
    assert AccessToken.objects.filter(user_id=ann).count() == 2
    again = {"grant_type": "refresh_token", "refresh_token": tokens[-1]["refresh_token"]}
    assert app.ask_token(**again).status_code == 200
    gone = again | {"refresh_token": tokens[0]["refresh_token"]}
    assert app.ask_token(**gone).status_code == 400
    assert AccessToken.objects.filter(user_id=ann).count() == 2


def test_many_sign_ins_at_once_leave_no_session_too_many(
    ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.actions.tokens.MAX_SESSIONS", 3)
    answers = run_together([_sign_in] * 6)
    assert failures(answers) == []
    assert [answer.status_code for answer in answers] == [302] * 6
    assert AccessToken.objects.filter(user_id=ann).count() == 3


def test_a_sign_in_with_a_password_that_was_just_replaced_begins_no_session(
    ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = signing_in.start_session

    def start_late(*args: Any) -> None:
        change_password(User.objects.get(pk=ann), NEW)
        start(*args)

    monkeypatch.setattr(signing_in, "start_session", start_late)
    browser = Browser()
    answer = browser.send(SIGN_IN, FORMS[SIGN_IN])
    assert answer.status_code == 409 and b"Sign in with the new one" in answer.content
    assert COOKIE not in browser.client.cookies and not AccessToken.objects.exists()
    assert browser.client.get("/oauth/authorize")["Location"].startswith(SIGN_IN)


def test_of_two_changes_of_the_password_at_once_one_is_made(ann: int) -> None:
    browsers = [Browser(ann), Browser(ann)]
    form = {"current": PASSWORD, "password": NEW}
    answers = run_together([partial(one.send, "/settings/password", form) for one in browsers])
    assert failures(answers) == []
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses in ([302, 303], [303, 409], [303, 422]), statuses
    assert AccessToken.objects.count() == 1


def test_a_password_that_is_hashed_again_can_be_changed(ann: int) -> None:
    older = make_password(PASSWORD, hasher="random_secret")
    User.objects.filter(pk=ann).update(password=older)
    form = {"current": PASSWORD, "password": NEW}
    assert Browser(ann).send("/settings/password", form).status_code == 303
    assert User.objects.get(pk=ann).check_password(NEW)
