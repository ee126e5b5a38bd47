"""OAuth2 tokens for Mastodon's clients: scopes, refreshing, revoking, passwords."""

from threading import Barrier
from typing import Any

import pytest
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex
from pytest_django import Settings

from accounts.models import AccessToken, Application, RefreshToken, User
from accounts.oauth import MastodonOAuthValidator
from accounts.queries.viewers import find_viewer
from tests.integration.accounts.test_locks import in_thread
from tests.sign_ups import PASSWORD, App, Person


def test_scopes_are_those_the_application_registered(client: Client, member: Person) -> None:
    narrow = App.register(client, scopes="read:accounts write")
    assert narrow.log_in("ann", "read").json()["error"] == "invalid_scope"
    assert narrow.log_in("ann", "write:follows").json()["scope"] == "write:follows"
    default = narrow.ask_token(grant_type="password", username="ann", password=PASSWORD)
    assert default.json()["scope"] == "read:accounts write"


def test_without_a_scope_it_is_read(app: App) -> None:
    assert app.ask_token(grant_type="client_credentials").json()["scope"] == "read"


def test_a_refresh_token_works_once_and_its_reuse_ends_the_session(
    app: App, member: Person
) -> None:
    first = app.log_in("ann").json()
    second = app.ask_token(grant_type="refresh_token", refresh_token=first["refresh_token"]).json()
    assert find_viewer(first["access_token"]) is None
    assert find_viewer(second["access_token"]) is not None
    stolen = app.ask_token(grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert stolen.json()["error"] == "invalid_grant"
    assert find_viewer(second["access_token"]) is None


def test_revoking_a_token_ends_its_refresh_token(app: App, member: Person) -> None:
    token = app.log_in("ann").json()
    app.revoke(token["access_token"])
    again = app.ask_token(grant_type="refresh_token", refresh_token=token["refresh_token"])
    assert again.json()["error"] == "invalid_grant"


def test_only_the_client_of_a_token_may_revoke_it(
    reading_app: App, app: App, member: Person
) -> None:
    token = app.log_in("ann").json()
    for secret in (reading_app.client_secret, "wrong"):
        reading_app.client_secret = secret
        for text in (token["access_token"], token["refresh_token"]):
            answer = reading_app.revoke(text)
            assert (answer.status_code, answer.json()["error"]) == (403, "unauthorized_client")
    assert find_viewer(token["access_token"]) is not None
    assert app.revoke(token["refresh_token"]).status_code == 200
    assert app.revoke(token["refresh_token"]).json() == {}
    assert find_viewer(token["access_token"]) is None
    assert app.revoke("unknown").json() == {}


def test_passwords_are_taken_only_where_a_setting_allows_it(
    app: App, member: Person, settings: Settings
) -> None:
    assert app.log_in("ann").status_code == 200
    settings.ALLOW_PASSWORD_GRANT = False
    refused = app.log_in("ann")
    assert (refused.status_code, refused.json()["error"]) == (400, "unauthorized_client")


def test_a_password_is_not_enough_for_people_with_a_second_step(app: App, member: Person) -> None:
    user = User.objects.get(username="ann")
    TOTPDevice.objects.create(user=user, name="app", key=random_hex(20))
    refused = app.log_in("ann")
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_people_log_in_by_name_or_address(app: App, member: Person) -> None:
    for name in ["ann", "ANN", "ann@example.org", "Ann@Example.ORG"]:
        assert app.log_in(name).status_code == 200, name


def test_a_shared_address_is_nobodys_log_in(app: App, member: Person) -> None:
    assert app.log_in("@").json()["error"] == "invalid_grant"


def test_token_mistakes(app: App, member: Person) -> None:
    for content_type in ["multipart/form-data", "application/json"]:
        for form, status, error in [
            (
                {"grant_type": "password", "username": "ann", "password": "wrong"},
                400,
                "invalid_grant",
            ),
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
        ]:
            form = app.credentials | form
            kind = {} if content_type.startswith("multipart") else {"content_type": content_type}
            answer = app.client.post("/oauth/token", form, **kind)
            assert (answer.status_code, answer.json()["error"]) == (status, error), (
                form,
                status,
                error,
                content_type,
            )


def test_a_token_request_may_be_json(app: App) -> None:
    form = app.credentials | {"grant_type": "client_credentials"}
    answer = app.client.post("/oauth/token", form, "application/json")
    assert answer.status_code == 200


def test_a_broken_body_is_an_answer_in_json(app: App) -> None:
    for body, status in [("{", 400), ("[]", 400), ('{"grant_type": ["x"]}', 400)]:
        answer = app.client.post("/oauth/token", body, "application/json")
        assert answer.status_code == status, (body, status)
        assert "error" in answer.json(), (body, status)


def test_a_secret_is_shown_once_and_kept_hashed(app: App) -> None:
    (row,) = Application.objects.all()
    assert app.client_secret not in row.client_secret
    assert row.client_secret.startswith("random_secret$")


def test_refresh_tokens_are_not_kept_in_clear(app: App, member: Person) -> None:
    app.log_in("ann")
    assert not RefreshToken.objects.exclude(token="")
    assert not AccessToken.objects.exclude(token="")


def test_one_of_two_simultaneous_refreshes_wins(
    app: App, member: Person, monkeypatch: pytest.MonkeyPatch
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
