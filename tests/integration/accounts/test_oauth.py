"""OAuth2 the way Mastodon's clients speak it."""

import base64
import re
from hashlib import sha256
from threading import Barrier
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client
from oauth2_provider.models import get_grant_model
from pytest_django import Settings

from accounts.models import AccessToken, Application, RefreshToken
from accounts.oauth import MastodonOAuthValidator
from accounts.queries.viewers import find_viewer
from tests.integration.accounts.people import OUT_OF_BAND, PASSWORD, SCOPES, App, Person
from tests.integration.accounts.test_locks import in_thread

CALLBACK = "https://reader.example/callback"
NATIVE = "reader-app://callback"
VERIFIER = "v" * 43 + "-._~"
CHALLENGE = base64.urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def reader(client: Client) -> App:
    return App.register(client, uris=f"{OUT_OF_BAND}\n{CALLBACK}\n{NATIVE}")


@pytest.fixture
def browser(ann: Person) -> Client:
    """Ann's browser, signed in."""
    browser = Client()
    browser.post("/auth/sign_in", {"username": "ann@example.org", "password": PASSWORD})
    return browser


def address(app: App, **changes: str) -> str:
    query = {
        "response_type": "code",
        "client_id": app.client_id,
        "redirect_uri": CALLBACK,
        "scope": SCOPES,
        "state": "s1",
    }
    return "/oauth/authorize?" + urlencode(query | changes)


def decide(browser: Client, url: str, **decision: str) -> Any:
    """Opens the consent page and presses a button on it."""
    page = browser.get(url).content.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    return browser.post(url, fields | decision)


def answer_of(response: Any) -> dict[str, str]:
    assert response.status_code == 302, response.content
    return {k: v[0] for k, v in parse_qs(urlsplit(response["Location"]).query).items()}


def code_for(browser: Client, app: App, **changes: str) -> str:
    return answer_of(decide(browser, address(app, **changes), allow="true"))["code"]


def exchange(app: App, code: str, **changes: str) -> Any:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
    return app.ask_token(**(form | changes))


def test_a_code_becomes_a_token(reader: App, browser: Client, ann: Person) -> None:
    token = exchange(reader, code_for(browser, reader)).json()
    assert (token["token_type"], token["scope"]) == ("Bearer", SCOPES)
    assert isinstance(token["created_at"], int)
    viewer = find_viewer(token["access_token"])
    assert viewer is not None
    assert viewer.account_id == ann.id


def test_signing_in_leads_back_to_the_question(reader: App, ann: Person) -> None:
    browser = Client()
    asked = browser.get(address(reader))
    assert asked["Location"].startswith("/auth/sign_in?next=")
    page = browser.get(asked["Location"])
    assert b'name="password"' in page.content
    signed_in = browser.post(
        asked["Location"],
        {"username": "ANN", "password": PASSWORD, "next": page.context["next"]},
    )
    question = browser.get(signed_in["Location"])
    assert b"Let Reader in?" in question.content
    assert b"Follow, block and mute for you" in question.content


def test_the_state_comes_back_and_a_no_is_a_no(reader: App, browser: Client) -> None:
    assert answer_of(decide(browser, address(reader), allow="true"))["state"] == "s1"
    denied = answer_of(decide(browser, address(reader)))
    assert (denied["error"], denied["state"]) == ("access_denied", "s1")


def test_out_of_band_shows_the_code(reader: App, browser: Client) -> None:
    page = decide(browser, address(reader, redirect_uri=OUT_OF_BAND), allow="true")
    code = re.search(rb'<output id="code">(.+?)</output>', page.content)
    assert code is not None
    token = exchange(reader, code[1].decode(), redirect_uri=OUT_OF_BAND)
    assert token.status_code == 200


def test_out_of_band_shows_a_refusal(reader: App, browser: Client) -> None:
    page = decide(browser, address(reader, redirect_uri=OUT_OF_BAND))
    assert b"Not authorized" in page.content


def test_a_native_application_gets_its_own_scheme(reader: App, browser: Client) -> None:
    answer = decide(browser, address(reader, redirect_uri=NATIVE), allow="true")
    assert answer["Location"].startswith(NATIVE + "?")


def test_what_was_allowed_once_is_not_asked_again(reader: App, browser: Client) -> None:
    exchange(reader, code_for(browser, reader))
    assert "code" in answer_of(browser.get(address(reader)))


def test_force_login_asks_who_it_is(reader: App, browser: Client) -> None:
    answer = browser.get(address(reader, force_login="true"))
    assert browser.get(answer["Location"])["Location"].startswith("/auth/sign_in")
    assert browser.get(address(reader, force_login="False")).status_code == 302


@pytest.mark.parametrize(("method", "challenge"), [("S256", CHALLENGE), ("plain", VERIFIER)])
@pytest.mark.filterwarnings("ignore:The PKCE:DeprecationWarning")
def test_a_code_with_a_challenge_needs_its_verifier(
    reader: App, browser: Client, method: str, challenge: str
) -> None:
    asked = {"code_challenge": challenge, "code_challenge_method": method}
    code = code_for(browser, reader, **asked)
    assert exchange(reader, code).status_code == 400
    code = code_for(browser, reader, **asked)
    assert exchange(reader, code, code_verifier=VERIFIER[:-1] + "x").status_code == 400
    code = code_for(browser, reader, **asked)
    assert exchange(reader, code, code_verifier=VERIFIER).status_code == 200


@pytest.mark.parametrize("challenge", ["short", "x" * 129, "x" * 42 + "\x00"])
def test_a_malformed_challenge_is_refused(reader: App, browser: Client, challenge: str) -> None:
    url = address(reader, code_challenge=challenge, code_challenge_method="S256")
    assert answer_of(decide(browser, url, allow="true"))["error"] == "invalid_request"
    assert not get_grant_model().objects.exists()


def test_a_code_works_once_for_its_own_client_and_address(
    reader: App, app: App, browser: Client
) -> None:
    assert exchange(app, code_for(browser, reader)).json()["error"] == "invalid_grant"
    code = code_for(browser, reader)
    assert exchange(reader, code, redirect_uri=NATIVE).status_code == 400
    code = code_for(browser, reader)
    assert exchange(reader, code).status_code == 200
    assert exchange(reader, code).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": CALLBACK + "/more"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": "\x00"},
        {"client_id": "nobody"},
        {"client_id": "a\x00b"},
    ],
)
def test_nobody_is_sent_to_an_unregistered_address(
    reader: App, browser: Client, changes: dict[str, str]
) -> None:
    answer = browser.get(address(reader, **changes))
    assert answer.status_code == 400
    assert b"This request cannot be answered" in answer.content


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"scope": "read admin:write"}, "invalid_scope"),
        ({"scope": "\x00"}, "invalid_scope"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"response_type": "nonsense"}, "unsupported_response_type"),
    ],
)
def test_other_mistakes_go_back_to_the_application(
    reader: App, browser: Client, changes: dict[str, str], error: str
) -> None:
    location = browser.get(address(reader, **changes))["Location"]
    assert location.startswith(CALLBACK)
    assert error in location


@pytest.mark.parametrize("query", ["", "%zz", "client_id=%", "a=%00&client_id=%ff"])
def test_an_unreadable_question_is_answered_politely(browser: Client, query: str) -> None:
    assert browser.get("/oauth/authorize?" + query).status_code == 400


def test_scopes_are_those_the_application_registered(client: Client, ann: Person) -> None:
    narrow = App.register(client, scopes="read:accounts write")
    assert narrow.log_in("ann", "read").json()["error"] == "invalid_scope"
    assert narrow.log_in("ann", "write:follows").json()["scope"] == "write:follows"
    default = narrow.ask_token(grant_type="password", username="ann", password=PASSWORD)
    assert default.json()["scope"] == "read:accounts write"


def test_without_a_scope_it_is_read(app: App) -> None:
    assert app.ask_token(grant_type="client_credentials").json()["scope"] == "read"


def test_a_refresh_token_works_once_and_its_reuse_ends_the_session(app: App, ann: Person) -> None:
    first = app.log_in("ann").json()
    second = app.ask_token(grant_type="refresh_token", refresh_token=first["refresh_token"]).json()
    assert find_viewer(first["access_token"]) is None
    assert find_viewer(second["access_token"]) is not None
    stolen = app.ask_token(grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert stolen.json()["error"] == "invalid_grant"
    assert find_viewer(second["access_token"]) is None


def test_revoking_a_token_ends_its_refresh_token(app: App, ann: Person) -> None:
    token = app.log_in("ann").json()
    app.revoke(token["access_token"])
    again = app.ask_token(grant_type="refresh_token", refresh_token=token["refresh_token"])
    assert again.json()["error"] == "invalid_grant"


def test_only_the_client_of_a_token_may_revoke_it(reader: App, app: App, ann: Person) -> None:
    assert reader.revoke(ann.token).status_code == 200  # which token it is remains a secret
    reader.client_secret = "wrong"
    answer = reader.revoke(ann.token)
    assert (answer.status_code, answer.json()["error"]) == (403, "unauthorized_client")
    assert find_viewer(ann.token) is not None
    assert app.revoke("unknown").json() == {}


def test_passwords_are_taken_only_where_a_setting_allows_it(
    app: App, ann: Person, settings: Settings
) -> None:
    assert app.log_in("ann").status_code == 200
    settings.ALLOW_PASSWORD_GRANT = False
    refused = app.log_in("ann")
    assert (refused.status_code, refused.json()["error"]) == (400, "unauthorized_client")


@pytest.mark.parametrize("name", ["ann", "ANN", "ann@example.org", "Ann@Example.ORG"])
def test_people_log_in_by_name_or_address(app: App, ann: Person, name: str) -> None:
    assert app.log_in(name).status_code == 200


def test_a_shared_address_is_nobodys_log_in(app: App, ann: Person) -> None:
    assert app.log_in("@").json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({"grant_type": "password", "username": "ann", "password": "wrong"}, 400, "invalid_grant"),
        ({"grant_type": "password", "username": "\x00", "password": "x"}, 400, "invalid_grant"),
        ({"grant_type": "password"}, 400, "invalid_request"),
        ({"grant_type": "authorization_code", "code": "none"}, 400, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": "none"}, 400, "invalid_grant"),
        ({"grant_type": "implicit"}, 400, "unsupported_grant_type"),
        ({}, 400, "unsupported_grant_type"),
        ({"grant_type": "client_credentials", "client_secret": "no"}, 401, "invalid_client"),
        ({"grant_type": "client_credentials", "client_id": "no"}, 401, "invalid_client"),
        ({"grant_type": "client_credentials", "client_id": "\x00"}, 401, "invalid_client"),
        ({"grant_type": "client_credentials", "scope": "admin:all"}, 400, "invalid_scope"),
        ({"grant_type": "client_credentials", "scope": "\x00"}, 400, "invalid_scope"),
    ],
)
@pytest.mark.parametrize("content_type", ["multipart/form-data", "application/json"])
def test_token_mistakes(
    app: App, ann: Person, form: dict[str, str], status: int, error: str, content_type: str
) -> None:
    form = app.credentials | form
    kind = {} if content_type.startswith("multipart") else {"content_type": content_type}
    answer = app.client.post("/oauth/token", form, **kind)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_a_token_request_may_be_json(app: App) -> None:
    form = app.credentials | {"grant_type": "client_credentials"}
    answer = app.client.post("/oauth/token", form, "application/json")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("body", "status"), [("{", 400), ("[]", 400), ('{"grant_type": ["x"]}', 400)]
)
def test_a_broken_body_is_an_answer_in_json(app: App, body: str, status: int) -> None:
    answer = app.client.post("/oauth/token", body, "application/json")
    assert answer.status_code == status
    assert "error" in answer.json()


def test_a_secret_is_shown_once_and_kept_hashed(app: App) -> None:
    (row,) = Application.objects.all()
    assert app.client_secret not in row.client_secret
    assert row.client_secret.startswith("random_secret$")


def test_refresh_tokens_are_not_kept_in_clear(app: App, ann: Person) -> None:
    app.log_in("ann")
    assert not RefreshToken.objects.exclude(token="")
    assert not AccessToken.objects.exclude(token="")


def test_one_of_two_simultaneous_refreshes_wins(
    app: App, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh_token = app.log_in("ann").json()["refresh_token"]
    both_were_valid = Barrier(2, timeout=20)
    save = MastodonOAuthValidator._save_bearer_token

    def wait_and_save(self: Any, *args: Any, **kwargs: Any) -> None:
        both_were_valid.wait()
        save(self, *args, **kwargs)

    monkeypatch.setattr(MastodonOAuthValidator, "_save_bearer_token", wait_and_save)
    answers: list[Any] = []

    def refresh() -> None:
        asking = App(Client(), app.client_id, app.client_secret)
        answers.append(asking.ask_token(grant_type="refresh_token", refresh_token=refresh_token))

    threads = [in_thread(refresh), in_thread(refresh)]
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200, 400]
    (token,) = [answer.json()["access_token"] for answer in answers if answer.status_code == 200]
    assert find_viewer(token) is not None
