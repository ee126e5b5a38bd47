"""Signing in on the pages with the account of another site, at a real provider."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.identities import issuer_keys
from accounts.identities.models import ExternalIdentity
from accounts.identities.oidc import provider as oidc
from accounts.models import AccessToken, User
from accounts.types import Restriction
from pages.sessions import COOKIE
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, oidc_provider
from tests.sign_ups import PASSWORD
from tests.world import make_account, restrict

START, SIGN_UP = "/auth/oidc", "/auth/oidc/sign_up"
FORM = {"username": "ann", "agreement": "true"}


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with oidc_provider() as provider:
        yield provider


@pytest.fixture
def provider(
    world: None, running: Provider, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Provider:
    # A crowded machine is not a provider that hangs.
    monkeypatch.setattr(oidc, "ANSWER_S", 60.0)
    monkeypatch.setattr(issuer_keys, "FETCH_S", 60.0)
    settings.PUSH_PRIVATE_ADDRESSES = True
    settings.OIDC_ISSUER, settings.OIDC_NAME = running.issuer, "Corp"
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.OIDC_CREATE_ACCOUNTS = True
    return running


def go(client: Client, provider: Provider, name: str = "ann", next_page: str = "") -> Any:
    """The answer of the callback, after the way over the provider."""
    begun = client.post(START, {"next": next_page})
    assert begun.status_code == 303, begun.content
    back = provider.browser(name).authorize(begun["Location"])
    return client.get(path_of(back))


def path_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}"


def sign_up(provider: Provider, name: str = "ann", **form: str) -> tuple[Client, Any]:
    client = Client()
    answer = go(client, provider, name)
    assert (answer.status_code, answer["Location"]) == (303, SIGN_UP), answer.content
    return client, client.post(SIGN_UP, FORM | form)


def test_a_new_person_chooses_a_name_and_comes_back_later(provider: Provider) -> None:
    client, answer = sign_up(provider)
    assert (answer.status_code, answer["Location"]) == (303, "/")
    assert client.cookies[COOKIE].value
    user = User.objects.get()
    assert (user.username, user.email, user.has_usable_password()) == ("ann", "", False)
    identity = ExternalIdentity.objects.get()
    assert (identity.issuer, identity.user_id) == (provider.issuer, user.pk)
    again = Client()
    answer = go(again, provider, next_page="/bookmarks")
    assert (answer.status_code, answer["Location"]) == (303, "/bookmarks")
    assert again.get("/bookmarks").status_code == 200
    assert User.objects.count() == 1


def test_the_form_has_the_name_of_the_provider_and_its_faults(provider: Provider) -> None:
    make_account("taken")
    client = Client()
    assert b"Sign in with Corp" in client.get("/auth/sign_in").content
    go(client, provider, "ann.b")
    assert b'value="ann_b"' in client.get(SIGN_UP).content
    for form in ({"username": "taken"}, {"username": "a b"}, {"agreement": "false"}):
        assert client.post(SIGN_UP, FORM | form).status_code == 422
    assert not ExternalIdentity.objects.exists()


def test_two_forms_at_once_are_one_account(provider: Provider) -> None:
    client, _ = sign_up(provider)
    other = Client()
    other.cookies = client.cookies
    go(first := Client(), provider, "ben")
    assert first.post(SIGN_UP, FORM | {"username": "ben"}).status_code == 303
    assert first.post(SIGN_UP, FORM | {"username": "ben2"}).status_code == 400
    assert {user.username for user in User.objects.all()} == {"ann", "ben"}


def test_another_persons_link_signs_nobody_in(provider: Provider) -> None:
    sign_up(provider)
    victim, attacker = Client(), Client()
    back = provider.browser("ann").authorize(attacker.post(START)["Location"])
    assert victim.get(path_of(back)).status_code == 400
    victim.post(START)
    assert victim.get(path_of(back)).status_code == 400
    assert COOKIE not in victim.cookies
    assert attacker.get(path_of(back)).status_code == 303
    assert attacker.get(path_of(back)).status_code == 400, "its step is over"


def test_what_comes_back_wrong_is_refused(provider: Provider) -> None:
    client = Client()
    begun = client.post(START)
    state = parse_qs(urlsplit(begun["Location"]).query)["state"][0]
    for query in ("", f"state={state}", f"state={state}&code=x", "code=x", "error=access_denied"):
        assert client.get(f"{START}/callback?{query}").status_code in (400, 503), query
    assert client.get(SIGN_UP).status_code == 400
    assert not User.objects.exists()


def test_a_code_of_another_sign_in_is_refused(provider: Provider) -> None:
    """The nonce and the verifier are of the browser that began."""
    client, other = Client(), Client()
    state = parse_qs(urlsplit(client.post(START)["Location"]).query)["state"][0]
    stolen = provider.browser("ann").authorize(other.post(START)["Location"])
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    answer = client.get(f"{START}/callback?state={state}&code={code}")
    assert answer.status_code in (400, 503)
    assert COOKIE not in client.cookies


def test_suspended_accounts_and_staff_are_refused(provider: Provider) -> None:
    sign_up(provider)
    user = User.objects.get()
    restrict(user.pk, Restriction.SUSPENDED)
    assert go(Client(), provider).status_code == 403
    restrict(user.pk, Restriction.NONE)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    assert go(Client(), provider).status_code == 403


def test_the_operator_may_create_the_accounts(provider: Provider, settings: Settings) -> None:
    sign_up(provider)
    settings.OIDC_CREATE_ACCOUNTS = False
    assert go(Client(), provider).status_code == 303
    ExternalIdentity.objects.all().delete()
    assert go(Client(), provider).status_code == 403


def test_no_other_page_is_a_next_page(provider: Provider) -> None:
    sign_up(provider)
    assert go(Client(), provider, next_page="https://evil.example/")["Location"] == "/"


def test_a_provider_that_is_away_is_503(provider: Provider, settings: Settings) -> None:
    settings.OIDC_ISSUER = "http://localhost:9/nothing"
    answer = Client().post(START)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


def test_without_a_provider_there_is_no_such_page(world: None) -> None:
    client = Client()
    assert b"oidc" not in client.get("/auth/sign_in").content
    answers = [client.post(START), client.get(f"{START}/callback"), client.get(SIGN_UP)]
    assert [answer.status_code for answer in (*answers, client.post(SIGN_UP))] == [404] * 4


def test_without_a_password_a_fresh_sign_in_is_the_proof(provider: Provider) -> None:
    client, _ = sign_up(provider)
    assert b"Your password" not in client.get("/settings/export").content
    archive = client.post("/settings/export")
    assert archive["Content-Type"] == "application/zip"
    assert b"".join(archive.streaming_content)[:2] == b"PK"  # type: ignore[attr-defined]
    AccessToken.objects.update(created=datetime.now(UTC) - timedelta(minutes=11))
    for path, form in (
        ("/settings/export", {}),
        ("/settings/delete", {}),
        ("/settings/email", {"email": "ann@example.org"}),
        ("/settings/password", {"password": PASSWORD}),
    ):
        answer = client.post(path, form)
        assert answer.status_code == 422, path
        assert b"Sign out and in again" in answer.content
    go(client, provider)
    assert client.post("/settings/password", {"password": PASSWORD}).status_code == 303
    assert User.objects.get().check_password(PASSWORD)
