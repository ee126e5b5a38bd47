"""The documents with which programs find this server's software, accounts and endpoints.

Features that do not exist here answer as of a Mastodon server without them.
"""

from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.types import Restriction
from tests.callers import Caller
from tests.sign_ups import App
from tests.world import make_account, restrict

SITE = "http://localhost:8000"
OTHER_ORIGIN = {"Origin": "https://reader.example"}
DOCUMENTS = (
    "/.well-known/nodeinfo",
    "/nodeinfo/2.0",
    "/nodeinfo/2.1",
    "/.well-known/host-meta",
    "/.well-known/host-meta.json",
    "/.well-known/oauth-authorization-server",
)


def test_nodeinfo_is_found_and_names_the_software(world: None, client: Client) -> None:
    links = client.get("/.well-known/nodeinfo").json()["links"]
    for link in links:
        document = client.get(link["href"].removeprefix(SITE)).json()
        assert link["rel"].endswith(f"/{document['version']}")
        assert document["software"]["name"] == "tideline"
        assert document["protocols"] == []
        assert {"users", "localPosts"} == document["usage"].keys()
    assert len(links) == 2


def test_scripts_of_any_page_may_read_it(world: None, client: Client) -> None:
    for path in DOCUMENTS:
        answer = client.get(path, headers=OTHER_ORIGIN)
        assert answer.status_code == 200, path
        assert answer["Access-Control-Allow-Origin"] == "*", path
        assert "Set-Cookie" not in answer, path


def test_both_forms_of_host_meta_lead_to_webfinger(world: None, client: Client) -> None:
    answer = client.get("/.well-known/host-meta")
    assert answer["Content-Type"].startswith("application/xrd+xml")
    (link,) = ElementTree.fromstring(answer.content)
    (other,) = client.get("/.well-known/host-meta.json").json()["links"]
    assert link.get("template") == other["template"]
    assert other["template"] == f"{SITE}/.well-known/webfinger?resource={{uri}}"


def test_webfinger_finds_an_account_of_this_host(world: None, client: Client) -> None:
    make_account("wanda")
    names = ("wanda@localhost:8000", "acct:wanda@localhost:8000", "acct:Wanda@LOCALHOST:8000")
    for resource in (*names, f"{SITE}/@wanda", f"{SITE}/users/wanda"):
        answer = finger(client, resource)
        assert answer["Content-Type"].startswith("application/jrd+json"), resource
        assert answer.json()["subject"] == "acct:wanda@localhost:8000", resource
        assert answer.json()["links"][0]["href"] == f"{SITE}/@wanda", resource


def test_webfinger_finds_no_other_account(world: None, client: Client) -> None:
    make_account("wanda")
    for resource, status in [
        ("acct:nothing@localhost:8000", 404),
        ("acct:wanda@elsewhere.example", 404),
        ("https://elsewhere.example/@wanda", 404),
        ("acct:wa\x00nda@localhost:8000", 404),
        ("acct:wanda", 400),
        ("", 400),
        ("@", 404),
    ]:
        assert finger(client, resource).status_code == status, (resource, status)


def test_webfinger_hides_a_suspended_account(world: None, client: Client) -> None:
    restrict(make_account("wanda"), Restriction.SUSPENDED)
    assert finger(client, "acct:wanda@localhost:8000").status_code == 404


def finger(client: Client, resource: str) -> Any:
    return client.get("/.well-known/webfinger", {"resource": resource})


@pytest.mark.parametrize("has_password", [False, True])
def test_the_oauth_server_states_what_it_does(
    world: None, client: Client, settings: Settings, has_password: bool
) -> None:
    settings.ALLOW_PASSWORD_GRANT = has_password
    found = client.get("/.well-known/oauth-authorization-server").json()
    assert found["issuer"] == SITE
    assert ("password" in found["grant_types_supported"]) is has_password
    assert {"read", "write:statuses", "profile"} <= {*found["scopes_supported"]}
    assert found["code_challenge_methods_supported"] == ["S256"]
    app = App.register(client)
    token = client.post(
        found["token_endpoint"].removeprefix(SITE),
        app.credentials | {"grant_type": "client_credentials"},
    )
    assert token.status_code == 200


def test_userinfo_is_about_the_caller(world: None, client: Client) -> None:
    account_id = make_account()
    me = Caller(account_id, "profile")
    claims = me.get("/oauth/userinfo").json()
    assert claims == me.post("/oauth/userinfo").json()
    name = claims["preferred_username"]
    assert claims["profile"] == f"{SITE}/@{name}"
    assert claims["iss"] == SITE


def test_the_plain_health_check_says_ok(world: None, client: Client) -> None:
    assert client.get("/health").content == b"OK"


FOR_ALL = (
    "/api/v1/custom_emojis",
    "/api/v1/trends/links",
    "/api/v1/instance/peers",
)
FOR_USERS = ("/api/v1/announcements", "/api/v1/domain_blocks")
MISSING = (
    "/api/v1/instance/domain_blocks",
    "/api/v1/instance/terms_of_service",
)


def test_everybody_reads_an_empty_list(world: None, client: Client) -> None:
    for path in FOR_ALL:
        assert client.get(path).json() == [], path


def test_a_user_reads_an_empty_list(world: None) -> None:
    for path in FOR_USERS:
        assert Caller(make_account()).get(path).json() == [], path


def test_nothing_is_found_where_a_server_may_have_nothing(world: None) -> None:
    for path in MISSING:
        answer = Caller(make_account()).get(path)
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"}), path


def test_what_cannot_be_done_is_refused(world: None) -> None:
    ann = Caller(make_account())
    refused = ann.post("/api/v1/domain_blocks", {"domain": "example.org"})
    assert refused.status_code == 403
    assert "does not federate" in refused.json()["error"]
    assert ann.delete("/api/v1/domain_blocks").json() == {}
    assert ann.post("/api/v1/announcements/1/dismiss").status_code == 404
    confirmed = ann.post("/api/v1/emails/confirmations", {"email": "new@example.org"})
    assert (confirmed.status_code, "awaiting" in confirmed.json()["error"]) == (403, True)


def test_the_parts_of_the_site_that_are_not_lists(world: None, client: Client) -> None:
    languages = client.get("/api/v1/instance/languages").json()
    assert {"code": "en", "name": "English"} in languages
    assert {"code": "de", "name": "German"} in languages
    assert all(one["code"].isalpha() for one in languages)
    assert client.get("/api/v1/instance/translation_languages").json() == {}
