"""Every form that brings a password, while other hashes have all places of the machine."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import LazySettings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.tokens import default_token_generator
from django.test import Client

from accounts import password_hasher
from accounts.errors import PasswordsBusy
from accounts.models import User
from accounts.password_hasher import HashPlaces, PasswordHasher
from pages.sessions import COOKIE
from tests.integration.pages.browsing import Browser
from tests.sign_ups import PASSWORD, App
from web.password_paths import may_bring_password

NEW = "another fine word"
FORMS = {
    "/auth/sign_in": {"username": "ann", "password": PASSWORD},
    "/auth/sign_up": {"username": "bob", "email": "b@example.org", "password": NEW, "agreement": 1},
    "/settings/password": {"current": PASSWORD, "password": NEW},
    "/settings/email": {"password": PASSWORD, "email": "new@example.org"},
    "/settings/export": {"password": PASSWORD},
    "/settings/delete": {"password": PASSWORD},
}
# It has a queue of its own.
ARCHIVE = "/settings/export"


@pytest.fixture(autouse=True)
def password(ann: int, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PASSWORD_HASHERS = [
        "accounts.password_hasher.PasswordHasher",
        "accounts.oauth.RandomSecretHasher",
    ]
    monkeypatch.setattr(PasswordHasher, "iterations", 1)
    values = {"password": make_password(PASSWORD), "email": "ann@example.org"}
    User.objects.filter(pk=ann).update(**values)


@pytest.fixture
def make_busy(
    ann: int, settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], None]]:
    settings.RUNTIME_DIR, settings.PASSWORD_HASHES = str(tmp_path), 1
    monkeypatch.setattr(password_hasher, "WAIT_S", 0.02)
    monkeypatch.setattr(password_hasher._HashLimit, "is_on", True)
    password_hasher._places.cache_clear()
    place = HashPlaces(tmp_path / "password-hashes", 1)
    with ExitStack() as taken:
        yield lambda: taken.enter_context(place.taking())
    password_hasher._places.cache_clear()


def assert_busy(answer: Any) -> None:
    assert (answer.status_code, answer["Retry-After"]) == (503, "3")
    assert PasswordsBusy.text in answer.content.decode()


def link_of(account_id: int) -> str:
    user = User.objects.get(pk=account_id)
    return f"/auth/password/{account_id}/{default_token_generator.make_token(user)}"


@pytest.mark.parametrize("path", FORMS)
def test_a_page_says_that_and_changes_nothing(
    ann: int, make_busy: Callable[[], None], path: str
) -> None:
    browser, before = Browser(ann), User.objects.values().get()
    make_busy()
    answer = browser.send(path, FORMS[path])
    assert_busy(answer)
    assert COOKIE not in answer.cookies
    assert User.objects.values().get() == before
    assert browser.read("/"), "who is signed in goes on"
    assert may_bring_password(path) or path == ARCHIVE


def test_the_form_of_a_sign_up_keeps_what_was_typed(make_busy: Callable[[], None]) -> None:
    make_busy()
    answer = Browser().send("/auth/sign_up", FORMS["/auth/sign_up"])
    assert_busy(answer)
    page = answer.content.decode()
    for name in ("username", "email"):
        assert f'name="{name}" ' in page and f'value="{FORMS["/auth/sign_up"][name]}"' in page
    assert FORMS["/auth/sign_up"]["password"] not in page and "checked" in page


def test_the_link_of_a_mail_works_later(ann: int, make_busy: Callable[[], None]) -> None:
    link = link_of(ann)
    make_busy()
    assert_busy(Browser().send(link, {"password": NEW}))
    assert Browser().read(link) and may_bring_password(link)


@pytest.mark.parametrize("name", ["ann", "Ann@example.org", "unknown", ""])
def test_a_name_that_does_not_exist_needs_a_place_too_and_no_try_is_counted(
    ann: int, make_busy: Callable[[], None], name: str
) -> None:
    make_busy()
    for password in (PASSWORD, "wrong"):
        answer = Browser().send("/auth/sign_in", {"username": name, "password": password})
        # An empty field is refused by the form.
        assert answer.status_code == (503 if name else 200)
    assert AccessAttempt.objects.count() == 0


def test_a_suspended_account_and_one_without_password_need_a_place_too(
    ann: int, make_busy: Callable[[], None]
) -> None:
    make_busy()
    for values in ({"is_active": False}, {"password": make_password(None)}):
        User.objects.filter(pk=ann).update(**values)
        assert_busy(Browser().send("/auth/sign_in", FORMS["/auth/sign_in"]))


def test_the_api_answers_alike(ann: int, make_busy: Callable[[], None]) -> None:
    app = App.register(Client())
    new = {"username": "bob", "email": "b@example.org", "password": NEW, "agreement": True}
    sign_up = partial(app.ask_sign_up, **new)
    make_busy()
    for answer in (app.log_in("ann"), app.log_in("unknown"), sign_up()):
        assert_busy(answer)
        assert answer.json() == {"error": PasswordsBusy.text}
    assert User.objects.count() == 1


def test_only_requests_with_passwords_are_kept_apart(settings: LazySettings) -> None:
    paths = ("/api/v1/accounts", "/api/v1/accounts/", "/oauth/token", "/oauth/token/")
    assert all(map(may_bring_password, paths))
    others = ("/api/v1/accounts/1/follow", "/api/v1/statuses", "/auth/password", "/oauth/revoke")
    assert not any(map(may_bring_password, others))
    settings.ALLOW_PASSWORD_GRANT = False
    assert not may_bring_password("/oauth/token")
