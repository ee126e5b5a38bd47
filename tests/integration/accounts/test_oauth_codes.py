"""OAuth2 in the browser, as Mastodon's clients speak it: consent, codes and redirects."""

import base64
import re
from functools import partial
from hashlib import sha256
from html import unescape
from threading import Barrier
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from oauth2_provider.models import get_grant_model

from accounts.actions.change_password import change_password
from accounts.models import AccessToken, User
from accounts.oauth import MastodonOAuthValidator
from accounts.queries.viewers import find_viewer
from tests.integration.accounts.consent import (
    CALLBACK,
    NATIVE,
    address,
    answer_of,
    code_for,
    decide,
    exchange,
    fields_of,
)
from tests.races import failures, run_together
from tests.sign_ups import OUT_OF_BAND, PASSWORD, SCOPES, App, Person
from tests.waiting import PATIENCE_S
from tests.world import drain_all

VERIFIER = "v" * 43 + "-._~"
CHALLENGE = base64.urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


def test_a_code_becomes_a_token(reading_app: App, browser: Client, member: Person) -> None:
    token = exchange(reading_app, code_for(browser, reading_app)).json()
    assert (token["token_type"], token["scope"]) == ("Bearer", SCOPES)
    assert isinstance(token["created_at"], int)
    viewer = find_viewer(token["access_token"])
    assert viewer is not None
    assert viewer.account_id == member.id


def way_back(page: HttpResponse) -> str:
    [there] = re.findall(r'name="next" value="([^"]+)"', page.content.decode())
    return unescape(there)


def test_signing_in_leads_back_to_the_question(reading_app: App, member: Person) -> None:
    browser = Client()
    asked = browser.get(address(reading_app))
    assert asked["Location"].startswith("/auth/sign_in?next=")
    page = browser.get(asked["Location"])
    assert b'name="password"' in page.content
    signed_in = browser.post(
        asked["Location"],
        {"username": "ANN", "password": PASSWORD, "next": way_back(page)},
    )
    question = browser.get(signed_in["Location"])
    assert b"Let Reader in?" in question.content
    assert b"Follow, block and mute for you" in question.content


def test_the_state_comes_back_and_a_no_is_a_no(reading_app: App, browser: Client) -> None:
    assert answer_of(decide(browser, address(reading_app), allow="true"))["state"] == "s1"
    denied = answer_of(decide(browser, address(reading_app)))
    assert (denied["error"], denied["state"]) == ("access_denied", "s1")


def test_out_of_band_shows_the_code(reading_app: App, browser: Client) -> None:
    page = decide(browser, address(reading_app, redirect_uri=OUT_OF_BAND), allow="true")
    code = re.search(rb'<output id="code">(.+?)</output>', page.content)
    assert code is not None
    token = exchange(reading_app, code[1].decode(), redirect_uri=OUT_OF_BAND)
    assert token.status_code == 200


def test_a_code_ends_with_all_other_sessions(reading_app: App, browser: Client) -> None:
    code = code_for(browser, reading_app)
    assert browser.post("/settings/sessions", {"session": "others"}).status_code == 303
    assert exchange(reading_app, code).json()["error"] == "invalid_grant"


def test_no_cache_keeps_a_question_or_a_code(reading_app: App, browser: Client) -> None:
    url = address(reading_app, redirect_uri=OUT_OF_BAND)
    asked, shown = browser.get(url), decide(browser, url, allow="true")
    redirected = decide(browser, address(reading_app), allow="true")
    wrong = browser.get(address(reading_app, client_id="no"))
    for answer in (asked, shown, redirected, wrong, Client().get(url)):
        assert "no-store" in answer["Cache-Control"], answer


def test_out_of_band_shows_a_refusal(reading_app: App, browser: Client) -> None:
    page = decide(browser, address(reading_app, redirect_uri=OUT_OF_BAND))
    assert b"Not authorized" in page.content


def test_a_native_application_gets_its_own_scheme(reading_app: App, browser: Client) -> None:
    answer = decide(browser, address(reading_app, redirect_uri=NATIVE), allow="true")
    assert answer["Location"].startswith(NATIVE + "?")


def test_what_was_allowed_once_is_not_asked_again(reading_app: App, browser: Client) -> None:
    exchange(reading_app, code_for(browser, reading_app))
    assert "code" in answer_of(browser.get(address(reading_app)))


def test_force_login_asks_once_who_it_is_and_ends_no_session(
    reading_app: App, browser: Client, member: Person
) -> None:
    asked = browser.get(address(reading_app, force_login="true"))
    assert asked["Location"].startswith("/auth/sign_in?next=")
    assert b"Let Reader in?" in browser.get(address(reading_app)).content  # still signed in
    for person in (browser, Client()):
        page = person.get(asked["Location"])
        assert b'name="password"' in page.content
        form = {"username": "ann", "password": PASSWORD, "next": way_back(page)}
        signed_in = person.post(asked["Location"], form)
        assert b"Let Reader in?" in person.get(signed_in["Location"]).content
    assert b"Let Reader in?" in browser.get(address(reading_app, force_login="False")).content


def test_the_issuer_is_the_public_address_for_every_host(reading_app: App, browser: Client) -> None:
    url = address(reading_app)
    for host in ("localhost", "127.0.0.1:81"):
        browser.defaults["HTTP_HOST"] = host
        assert answer_of(decide(browser, url, allow="true"))["iss"] == "http://localhost:8000"


def test_a_code_with_a_challenge_needs_its_verifier(reading_app: App, browser: Client) -> None:
    asked = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    code = code_for(browser, reading_app, **asked)
    assert exchange(reading_app, code).status_code == 400
    code = code_for(browser, reading_app, **asked)
    assert exchange(reading_app, code, code_verifier=VERIFIER[:-1] + "x").status_code == 400
    code = code_for(browser, reading_app, **asked)
    assert exchange(reading_app, code, code_verifier=VERIFIER).status_code == 200


@pytest.mark.parametrize(
    "asked",
    [
        *(
            {"code_challenge": text, "code_challenge_method": "S256"}
            for text in ("short", "x" * 129, "x" * 42 + "\x00")
        ),
        {"code_challenge": VERIFIER, "code_challenge_method": "plain"},
        {"code_challenge": CHALLENGE},
        {"code_challenge": CHALLENGE, "code_challenge_method": ""},
        {"code_challenge_method": "plain"},
    ],
)
def test_a_challenge_that_protects_nothing_is_refused(
    reading_app: App, browser: Client, asked: dict[str, str]
) -> None:
    """On the page, and in a form that was made by hand."""
    shown = browser.get(address(reading_app, **asked))
    assert (shown.status_code, b"code_challenge" in shown.content) == (400, True)
    url = address(reading_app)
    sent = browser.post(url, fields_of(browser.get(url)) | {"allow": "true"} | asked)
    assert sent.status_code == 400
    assert not get_grant_model().objects.exists()


def test_a_code_works_once_for_its_own_client_and_address(
    reading_app: App, app: App, browser: Client
) -> None:
    assert exchange(app, code_for(browser, reading_app)).json()["error"] == "invalid_grant"
    code = code_for(browser, reading_app)
    assert exchange(reading_app, code, redirect_uri=NATIVE).status_code == 400
    code = code_for(browser, reading_app)
    assert exchange(reading_app, code).status_code == 200
    assert exchange(reading_app, code).json()["error"] == "invalid_grant"


def test_a_code_that_comes_twice_ends_its_tokens(reading_app: App, browser: Client) -> None:
    """RFC 6749, 4.1.2: one of the two who sent it is a thief. Other tokens stay."""
    other = exchange(reading_app, code_for(browser, reading_app)).json()["access_token"]
    code = answer_of(browser.get(address(reading_app)))["code"]
    first = exchange(reading_app, code).json()
    assert exchange(reading_app, code).json()["error"] == "invalid_grant"
    drain_all()
    assert find_viewer(first["access_token"]) is None
    assert find_viewer(other) is not None
    again = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    assert reading_app.ask_token(**again).status_code == 400


def test_a_used_code_ends_refreshed_tokens_too(reading_app: App, browser: Client) -> None:
    code = code_for(browser, reading_app)
    first = exchange(reading_app, code).json()
    again = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    second = reading_app.ask_token(**again).json()
    exchange(reading_app, code)
    drain_all()
    assert find_viewer(second["access_token"]) is None


def test_another_client_ends_no_tokens_with_a_used_code(
    reading_app: App, app: App, browser: Client
) -> None:
    code = code_for(browser, reading_app)
    token = exchange(reading_app, code).json()["access_token"]
    assert exchange(app, code).json()["error"] == "invalid_grant"
    drain_all()
    assert find_viewer(token) is not None


@pytest.mark.parametrize("times", [2, 8])
def test_a_code_sent_several_times_at_once_leaves_no_token(
    reading_app: App, browser: Client, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All requests find the code before one of them uses it up."""
    code, together = code_for(browser, reading_app), Barrier(times)
    found = MastodonOAuthValidator.validate_code

    def validate(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_valid = found(self, *args, **kwargs)
        together.wait(PATIENCE_S)
        return is_valid

    monkeypatch.setattr(MastodonOAuthValidator, "validate_code", validate)
    answers = run_together([partial(exchange, reading_app, code)] * times)
    assert failures(answers) == []
    assert sorted(answer.status_code for answer in answers) == [200, *[400] * (times - 1)]
    assert not AccessToken.objects.filter(application__client_id=reading_app.client_id).exists()


@pytest.mark.parametrize("step", ["validate_code", "get_code_challenge"])
def test_a_code_used_between_two_steps_of_another_request_is_refused(
    reading_app: App, browser: Client, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, answer = code_for(browser, reading_app), getattr(MastodonOAuthValidator, step)
    others: list[Any] = []

    def use_up(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = answer(self, *args, **kwargs)
        monkeypatch.setattr(MastodonOAuthValidator, step, answer)
        if not others:
            others.append(exchange(reading_app, code))
        return found

    monkeypatch.setattr(MastodonOAuthValidator, step, use_up)
    refused = exchange(reading_app, code)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert others[0].status_code == 200
    assert not AccessToken.objects.filter(application__client_id=reading_app.client_id).exists()


def test_a_refresh_token_sent_several_times_at_once_gives_one_token(
    reading_app: App, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, together = exchange(reading_app, code_for(browser, reading_app)).json(), Barrier(8)
    found = MastodonOAuthValidator.validate_refresh_token

    def validate(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_valid = found(self, *args, **kwargs)
        together.wait(PATIENCE_S)
        return is_valid

    monkeypatch.setattr(MastodonOAuthValidator, "validate_refresh_token", validate)
    again = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    answers = run_together([partial(reading_app.ask_token, **again)] * 8)
    assert failures(answers) == []
    assert sorted(answer.status_code for answer in answers) == [200, *[400] * 7]


@pytest.mark.parametrize("ending", ["password", "token"])
def test_a_refresh_that_began_before_its_token_ended_gives_none(
    reading_app: App, browser: Client, member: Person, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = exchange(reading_app, code_for(browser, reading_app)).json()
    found = MastodonOAuthValidator.validate_refresh_token

    def validate(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_valid = found(self, *args, **kwargs)
        if ending == "token":
            reading_app.revoke(first["access_token"])
        else:
            change_password(User.objects.get(pk=member.id), "another fine word")
        return is_valid

    monkeypatch.setattr(MastodonOAuthValidator, "validate_refresh_token", validate)
    again = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    assert reading_app.ask_token(**again).json()["error"] == "invalid_grant"
    assert not AccessToken.objects.filter(application__client_id=reading_app.client_id).exists()


def test_nobody_is_sent_to_an_unregistered_address(reading_app: App, browser: Client) -> None:
    for changes in [
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": CALLBACK + "/more"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": "\x00"},
        {"client_id": "nobody"},
        {"client_id": "a\x00b"},
    ]:
        answer = browser.get(address(reading_app, **changes))
        assert answer.status_code == 400, changes
        assert b"This request cannot be answered" in answer.content, changes


def test_other_mistakes_go_back_to_the_application(reading_app: App, browser: Client) -> None:
    for changes, error in [
        ({"scope": "read admin:write"}, "invalid_scope"),
        ({"scope": "\x00"}, "invalid_scope"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"response_type": "nonsense"}, "unsupported_response_type"),
    ]:
        location = browser.get(address(reading_app, **changes))["Location"]
        assert location.startswith(CALLBACK), changes
        assert error in location, changes


def test_an_unreadable_question_is_answered_politely(browser: Client) -> None:
    for query in ["", "%zz", "client_id=%", "a=%00&client_id=%ff"]:
        assert browser.get("/oauth/authorize?" + query).status_code == 400, query
