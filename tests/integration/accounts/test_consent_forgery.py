"""A page of another origin cannot press a button of ours: every form checks where it came from."""

import re
from typing import Any

import pytest
from django.test import Client
from oauth2_provider.models import get_grant_model

from accounts.models import User
from tests.callers import sign_in
from tests.integration.accounts.consent import address, answer_of, code_for
from tests.sign_ups import PASSWORD, App, Person

SIBLING = {"Origin": "https://sibling.example.org"}
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


@pytest.fixture
def strict(member: Person) -> Client:
    """Ann's browser, signed in. Its forms are checked, as those of a real browser are."""
    browser = Client(enforce_csrf_checks=True)
    sign_in(browser, User.objects.get(username="ann"))
    return browser


def fields_of(browser: Client, url: str) -> dict[str, str]:
    return dict(HIDDEN.findall(browser.get(url).content.decode()))


def test_consent_needs_the_token_of_the_page(reading_app: App, strict: Client) -> None:
    url = address(reading_app)
    fields = fields_of(strict, url)
    forged = {name: value for name, value in fields.items() if name != "csrfmiddlewaretoken"}
    assert strict.post(url, forged | {"allow": "true"}).status_code == 403
    assert not get_grant_model().objects.exists()
    assert "code" in answer_of(strict.post(url, fields | {"allow": "true"}))


def test_a_sibling_origin_cannot_consent_even_with_a_token(
    reading_app: App, strict: Client
) -> None:
    url = address(reading_app)
    form = fields_of(strict, url) | {"allow": "true"}
    assert strict.post(url, form, headers=SIBLING).status_code == 403
    assert not get_grant_model().objects.exists()


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/auth/sign_in", {"username": "ann", "password": PASSWORD}),
        ("/auth/sign_out", {}),
        ("/admin/login/", {"username": "ann", "password": PASSWORD}),
        ("/admin/accounts/user/", {"action": "delete_selected"}),
        ("/admin/accounts/application/1/change/", {"name": "x"}),
    ],
)
def test_no_form_of_ours_can_be_sent_by_another_page(
    strict: Client, path: str, form: dict[str, str]
) -> None:
    User.objects.filter(username="ann").update(is_staff=True, is_superuser=True)
    assert strict.post(path, form).status_code == 403
    assert strict.post(path, form, headers=SIBLING).status_code == 403
    assert strict.get("/admin/").status_code == 200, "still signed in"


def test_token_requests_have_no_cookies_and_need_no_token(
    reading_app: App, browser: Client
) -> None:
    client = Client(enforce_csrf_checks=True)
    code = code_for(browser, reading_app)
    form: dict[str, Any] = {"grant_type": "client_credentials", "code": code}
    assert (
        client.post("/oauth/token", reading_app.credentials | form, headers=SIBLING).status_code
        == 200
    )
    gone = client.post("/oauth/revoke", reading_app.credentials | {"token": "x"}, headers=SIBLING)
    assert gone.status_code == 200
