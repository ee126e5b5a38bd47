"""No parameter of OAuth, however strange, is an error of ours or is stored without a bound."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.test import Client
from oauth2_provider.models import get_grant_model

from accounts.models import AccessToken
from accounts.oauth_parameters import LONGEST, LONGEST_SCOPE
from accounts.scopes import DESCRIPTIONS
from tests.integration.accounts.consent import (
    CALLBACK,
    address,
    code_for,
    decide,
    exchange,
    fields_of,
)
from tests.sign_ups import PASSWORD, SCOPES, App, Person

pytestmark = pytest.mark.slow

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
GRANTS = ("authorization_code", "password", DEVICE)
NAMES = (
    "client_id", "client_secret", "code", "code_challenge", "code_challenge_method",
    "code_verifier", "claims", "device_code", "grant_type", "nonce", "password", "prompt",
    "redirect_uri", "refresh_token", "request", "resource", "response_type", "scope", "state",
    "token", "token_type_hint", "ui_locales", "username",
)  # fmt: skip
TEXTS = ("", "\x00", "a\x00b", "\ud800", "x" * 300, "x" * 5_000, "{}", "[", "%zz", "\r\nX: y", "😀")
VALUES = (*TEXTS, None, True, 1, -1, 1.5, 2**70, [], ["read"], {}, {"a": {"b": []}})


def raw(text: str) -> str:
    """As a broken client would send it: a lone surrogate is three bytes that are not UTF-8."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


# Those that a token request of one of the grants reads: with all grants, the others with one.
READ_BY_A_GRANT = {
    "client_id", "client_secret", "code", "code_verifier", "device_code", "grant_type", "password",
    "redirect_uri", "refresh_token", "scope", "username",
}  # fmt: skip


def forms(app: App, name: str) -> Iterator[dict[str, Any]]:
    """Complete token requests of the kinds that may read a parameter of this name."""
    more = {"code": "c", "redirect_uri": CALLBACK, "refresh_token": "r", "device_code": "d"}
    for grant in GRANTS if name in READ_BY_A_GRANT else GRANTS[:1]:
        yield {
            **app.credentials,
            **more,
            "grant_type": grant,
            "username": "ann",
            "password": PASSWORD,
            "scope": "read",
        }


def test_token_requests_with_strange_values(reading_app: App, member: Person) -> None:
    for name in NAMES:
        for form in forms(reading_app, name):
            _send_strange_values(form, name)


def _send_strange_values(form: dict[str, Any], name: str) -> None:
    client = Client()
    for value in VALUES:
        body = json.dumps(form | {name: value})
        answer = client.post("/oauth/token", body, "application/json")
        assert answer.status_code < 500, (name, form["grant_type"], value)
    for text in TEXTS:
        sent = urlencode({k: v for k, v in form.items() if k != name})
        body = f"{sent}&{name}={raw(text)}&{name}={raw(text)}"
        answer = client.post("/oauth/token", body, "application/x-www-form-urlencoded")
        assert answer.status_code < 500, (name, form["grant_type"], text)


def test_revocations_with_strange_values(reading_app: App, member: Person) -> None:
    for name in ("token", "token_type_hint", "client_id", "client_secret", "x"):
        for value in VALUES:
            body = json.dumps(reading_app.credentials | {"token": member.token, name: value})
            answer = Client().post("/oauth/revoke", body, "application/json")
            assert answer.status_code < 500, (name, value)


def test_questions_with_strange_values(reading_app: App, browser: Client) -> None:
    browser.raise_request_exception = False
    for name, text in product(NAMES, TEXTS):
        url = f"{address(reading_app)}&{name}={raw(text)}"
        if text != "😀":  # else it is repeated
            url = address(reading_app, **{name: ""}).replace(f"{name}=", f"{name}={raw(text)}")
        shown = browser.get(url)
        assert shown.status_code < 500, (name, text)
        answer = browser.post(url, fields_of(shown) | {"allow": "true"})
        assert answer.status_code < 500, (name, text)


def test_consents_with_strange_values(reading_app: App, browser: Client) -> None:
    browser.raise_request_exception = False
    url = address(reading_app)
    fields = fields_of(browser.get(url))
    for name, text in product(NAMES, TEXTS):
        sent = text.encode("utf-8", "replace").decode()
        answer = browser.post(url, fields | {"allow": "true", name: sent})
        assert answer.status_code < 500, (name, text)
        if len(text) > LONGEST and name in {"scope", "state", "redirect_uri", "client_id"}:
            assert answer.status_code == 400


def test_broken_credentials_in_the_header(app: App) -> None:
    form = {"grant_type": "client_credentials"}
    for header in ("Basic", "Basic x", "Basic %s" % ("e" * 5_000), "Basic AAA="):
        answer = Client().post("/oauth/token", form, headers={"Authorization": header})
        assert answer.status_code in {400, 401}, header


def test_a_scope_is_stored_once_however_often_it_is_named(
    reading_app: App, member: Person, browser: Client
) -> None:
    repeated = " ".join(["read", "write"] * 50)
    token = exchange(reading_app, code_for(browser, reading_app, scope=repeated)).json()
    assert token["scope"] == "read write"
    for form in (
        {"grant_type": "client_credentials"},
        {"grant_type": "password", "username": "ann", "password": PASSWORD},
        {"grant_type": "refresh_token", "refresh_token": token["refresh_token"]},
    ):
        assert reading_app.ask_token(**form, scope=repeated).json()["scope"] == "read write"


def test_a_very_long_scope_is_refused(reading_app: App, member: Person, browser: Client) -> None:
    before = AccessToken.objects.count()
    for form in (
        {"grant_type": "client_credentials"},
        {"grant_type": "password", "username": "ann", "password": PASSWORD},
    ):
        answer = reading_app.ask_token(**form, scope="read " * 201)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
        assert answer.json()["error_description"] == "scope is longer than 1000 characters"
    url = address(reading_app)
    assert decide(browser, url, allow="true", scope="read " * 201).status_code == 400
    assert browser.get(address(reading_app, scope="read " * 201)).status_code == 400
    assert AccessToken.objects.count() == before
    assert not get_grant_model().objects.exists()


def test_all_scopes_together_are_accepted(client: Client) -> None:
    everything = " ".join(DESCRIPTIONS)
    assert len(everything) <= LONGEST_SCOPE
    app = App.register(client, scopes=everything)
    assert app.ask_token(grant_type="client_credentials", scope=everything).status_code == 200


def test_parameters_that_nothing_here_reads_are_not_stored(
    reading_app: App, browser: Client
) -> None:
    url = address(reading_app, nonce="n" * 300, claims='{"a":1}', resource="https://a.example/")
    assert "code" in url
    assert decide(browser, url, allow="true").status_code == 302
    (grant,) = get_grant_model().objects.all()
    assert (grant.nonce, grant.claims, grant.resource) == ("", "{}", [])
    assert grant.scope == SCOPES
