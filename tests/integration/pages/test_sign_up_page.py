"""Creating an account on a page."""

import pytest
from django.conf import LazySettings

from accounts.api.quotas import HOUR_S, SIGN_UPS
from accounts.models import User
from infra.caching.quotas import Quotas
from pages.sessions import COOKIE
from tests.integration.pages.browsing import Browser
from tests.sign_ups import FAST_HASHERS, PASSWORD

FORM = {"username": "Ann", "email": "ann@example.org", "password": PASSWORD, "agreement": "true"}


@pytest.fixture(autouse=True)
def quick_hash(world: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PASSWORD_HASHERS = FAST_HASHERS
    monkeypatch.setattr(SIGN_UPS, "_quotas", Quotas(HOUR_S))  # nothing is counted yet


def test_who_signs_up_is_signed_in_and_the_same_form_twice_makes_one_account() -> None:
    browser = Browser()
    browser.read("/auth/sign_up?next=/public")
    for _ in range(2):
        answer = browser.send("/auth/sign_up", {**FORM, "next": "/public"})
        assert (answer.status_code, answer["Location"]) == (303, "/public")
        assert "@ann" in browser.read("/")
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"username": "a b"}, "Username must contain only letters"),
        ({"email": ""}, "Email can&#39;t be blank"),
        ({"password": "12345678"}, "Password is too common"),
        ({"agreement": ""}, "Agreement must be accepted"),
    ],
)
def test_a_fault_is_named_at_its_field(change: dict[str, str], text: str) -> None:
    browser = Browser()
    answer = browser.send("/auth/sign_up", {**FORM, **change})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert text in page and PASSWORD not in page
    assert COOKIE not in browser.client.cookies and not User.objects.exists()


def test_a_password_can_be_shown_while_it_is_typed() -> None:
    for path in ("/auth/sign_up", "/auth/sign_in"):
        page = Browser().read(path)
        assert 'class="reveal scripted" type="button" data-opens="reveal"' in page, path


def test_the_name_of_another_person_is_taken() -> None:
    Browser().send("/auth/sign_up", FORM)
    answer = Browser().send("/auth/sign_up", {**FORM, "password": "another fine word"})
    assert answer.status_code == 422 and b"Username has already been taken" in answer.content


def test_an_address_signs_up_so_often_and_no_more(settings: LazySettings) -> None:
    settings.SIGN_UPS_PER_ADDRESS = 1
    Browser().send("/auth/sign_up", FORM)
    answer = Browser().send("/auth/sign_up", {**FORM, "username": "bob", "email": "b@example.org"})
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 0
    assert b'role="alert"' in answer.content and User.objects.count() == 1
