"""Accounts over HTTP: shapes, budgets and refusals."""

from typing import Any

import orjson
import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.api import schema
from accounts.cache import profiles
from accounts.models import Account, Application
from accounts.queries import site_counts
from accounts.queries.load import find_existing, load_account_json
from infra.caching import questions
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from tests.cached_values import begin
from tests.integration.accounts.test_tokens import AwayRedis
from tests.sign_ups import Person
from tests.world import make_account, make_accounts, publish

SELF = "/api/v1/accounts/verify_credentials"
EDIT = "/api/v1/accounts/update_credentials"
APP = {"client_name": "x", "redirect_uris": "https://a.example/cb", "scopes": "read"}


def test_an_account_is_what_its_owner_made_it(member: Person, client: Client) -> None:
    answer = member.patch(
        EDIT, display_name="Ann", note="a < b\n\nline\nline", locked=False, bot="1"
    )
    assert answer.json()["source"]["note"] == "a < b\n\nline\nline"
    seen = client.get(f"/api/v1/accounts/{member.id}").json()
    assert (seen["display_name"], seen["locked"], seen["bot"]) == ("Ann", False, True)
    assert seen["note"] == "<p>a &lt; b</p><p>line<br />line</p>"
    assert seen["acct"] == seen["username"] == "ann"
    assert seen["created_at"].endswith("T00:00:00.000Z")
    assert "source" not in seen
    assert member.patch(EDIT, locked="false").json()["display_name"] == "Ann"
    assert member.verify().json()["locked"] is False


def test_an_edit_is_seen_at_once_and_survives_a_flush(member: Person, client: Client) -> None:
    path = f"/api/v1/accounts/{member.id}"
    for name in ("one", "two"):
        member.patch(EDIT, display_name=name)
        assert client.get(path).json()["display_name"] == name
    redis().call("FLUSHDB")
    assert client.get(path).json()["display_name"] == "two"


def test_an_old_reading_never_replaces_a_newer_profile(member: Person) -> None:
    account_id = member.id
    tokens, old = begin(profiles, account_id), profiles.load([account_id])
    member.patch(EDIT, display_name="new")
    profiles.write_many(old, tokens)
    assert b'"display_name":"new"' in load_account_json([account_id])[account_id]


def test_a_change_of_an_account_is_in_the_next_answer(member: Person, client: Client) -> None:
    path = f"/api/v1/accounts/{member.id}"
    for _ in range(2):
        assert client.get(path).json()["display_name"] != "new"
    member.patch(EDIT, display_name="new")
    assert client.get(path).json()["display_name"] == "new"


def test_counts_are_shown_with_the_account(member: Person, client: Client) -> None:
    publish(member.id)
    seen = client.get(f"/api/v1/accounts/{member.id}").json()
    assert (seen["followers_count"], seen["following_count"], seen["statuses_count"]) == (0, 0, 1)


def test_many_accounts_cost_one_round_trip_and_no_query(world: None, spending: Any) -> None:
    ids = make_accounts(20)
    load_account_json(ids)
    with spending() as spent:
        found = load_account_json(ids)
    assert list(found) == ids
    assert (spent.queries, spent.round_trips) == ([], 1)


def test_cold_accounts_cost_two_queries_a_shard(world: None, spending: Any) -> None:
    ids = make_accounts(20)
    redis().call("FLUSHDB")
    with spending() as spent:
        load_account_json(ids)
    assert len(spent.queries) <= 2 * len({shard_of(account_id) for account_id in ids})


def test_without_redis_accounts_come_from_their_shards(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    account_id = make_account("bea")
    monkeypatch.setattr(questions, "redis", AwayRedis)
    assert orjson.loads(load_account_json([account_id])[account_id])["username"] == "bea"


def test_whoever_is_not_there_is_remembered(world: None, spending: Any) -> None:
    assert find_existing([7]) == set()
    with spending() as spent:
        assert find_existing([7]) == set()
        assert load_account_json([7]) == {}
    assert spent.queries == []


def test_warm_endpoints_ask_no_database(member: Person, spending: Any) -> None:
    path = f"/api/v1/accounts/{member.id}"
    member.get(path)
    with spending() as spent:
        assert member.get(path).status_code == 200
    assert (spent.queries, spent.round_trips) == ([], 1)


def test_lookup_finds_by_name(member: Person, client: Client) -> None:
    for acct in ["ann", "@ann", "ANN", "ann@localhost:8000", "@ann@LOCALHOST:8000"]:
        answer = client.get("/api/v1/accounts/lookup", {"acct": acct})
        assert answer.json()["id"] == str(member.id), acct


def test_lookup_misses(member: Person, client: Client) -> None:
    for acct in [None, "", "@", "nobody", "ann@elsewhere.example", "a\x00", "x" * 999]:
        query = {} if acct is None else {"acct": acct}
        answer = client.get("/api/v1/accounts/lookup", query)
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"}), acct


def test_several_accounts_in_the_order_asked(world: None, client: Client) -> None:
    a, b, c = make_accounts(3)
    answer = client.get("/api/v1/accounts", {"id[]": [c, "x", 2**64, a, c, 999_999, b, "\x00"]})
    assert [account["id"] for account in answer.json()] == [str(c), str(a), str(b)]
    assert client.get("/api/v1/accounts").json() == []
    assert client.get("/api/v1/accounts", {"id[]": range(1, 42)}).status_code == 422


def test_a_bad_edit_changes_nothing(member: Person) -> None:
    for body, status, error in [
        (b"{", 400, "The body is not valid JSON"),
        (b"[]", 400, "The body is not a JSON object"),
        (b'{"note": "\\ud800"}', 400, "The body is not valid JSON"),
        (b'{"note": "\xff"}', 400, "The body is not valid JSON"),
        (b'{"note": "\\u0000"}', 422, "note must not contain NUL characters"),
        (b'{"note": 5}', 422, "note must be text"),
        (b'{"note": ["x"]}', 422, "note must be text"),
        (orjson.dumps({"display_name": "x" * 101}), 422, "Validation failed: Display name is too"),
        (orjson.dumps({"note": "x" * 501}), 422, "Validation failed: Note is too long"),
        (b'{"note": "' + b"x" * 30_000_000 + b'"}', 413, "The request is too large"),
    ]:
        answer = member.app.client.patch(
            EDIT, body, "application/json", HTTP_AUTHORIZATION=f"Bearer {member.token}"
        )
        assert answer.status_code == status, error
        assert answer.json()["error"].startswith(error), error
        assert [row.version for row in Account.objects.of(member.id)] == [1], error


def test_an_application_that_cannot_be(client: Client) -> None:
    for change, error in [
        ({"client_name": ""}, "Name can't be blank"),
        ({"client_name": "x" * 61}, "Name is too long (maximum is 60 characters)"),
        ({"client_name": "a\x00b"}, "client_name must not contain NUL characters"),
        ({"redirect_uris": ""}, "Redirect uri can't be blank"),
        ({"redirect_uris": "/relative"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": "https://"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": "https://a.example/#x"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": "javascript:alert(1)"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": "JavaScript://%0aalert(1)"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": "data:text/html,x"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": "urn:other"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": "https://[x"}, "Redirect uri must be an absolute URI."),
        ({"redirect_uris": f"x://{'y' * 2_000}"}, "Redirect uri must be an absolute URI."),
        ({"scopes": "read admin:all"}, "Scopes doesn't match configured on the server."),
        ({"website": "ftp://x.example"}, "Website must be a valid URL"),
        (
            {"redirect_uris": "https://a.example/ " * 11},
            "Redirect uri has too many addresses (maximum is 10)",
        ),
        ({"scopes": "read " * 201}, "Scopes is too long (maximum is 1000 characters)"),
    ]:
        answer = client.post("/api/v1/apps", APP | change, "application/json")
        assert answer.status_code == 422, change
        assert answer.json()["error"].removeprefix("Validation failed: ") == error, change
        assert not Application.objects.exists(), change


def test_an_application_as_newer_clients_register_it(client: Client) -> None:
    uris = ["https://a.example/cb", "app:/cb"]
    form = {"client_name": "x", "redirect_uris": uris, "website": "https://a.example"}
    made = client.post("/api/v1/apps", form, "application/json").json()
    assert made["redirect_uris"] == uris
    assert (made["scopes"], made["website"]) == (["read"], "https://a.example")


def test_an_application_registers_each_scope_once(client: Client) -> None:
    form = {"client_name": "x", "redirect_uris": "app:/cb", "scopes": "read write read"}
    assert client.post("/api/v1/apps", form).json()["scopes"] == ["read", "write"]


def test_the_site_describes_itself(member: Person, client: Client, settings: Settings) -> None:
    site_counts._Memory.fresh_until = 0
    publish(member.id)
    publish(member.id)
    cache.delete(site_counts.CACHE_NAME)
    old = client.get("/api/v1/instance").json()
    assert old["stats"] == {"user_count": 1, "status_count": 2, "domain_count": 0}
    assert old["uri"] == "localhost:8000"
    new = client.get("/api/v2/instance").json()
    limits = new["configuration"]["statuses"]
    assert limits["max_characters"] == settings.POST_MAX_CHARACTERS


def test_the_site_counts_nothing_twice_a_minute(world: None, client: Client, spending: Any) -> None:
    client.get("/api/v1/instance")
    with spending() as spent:
        client.get("/api/v1/instance")
        client.get("/api/v2/instance")
    assert spent.queries == []


def test_another_process_reads_the_counts_of_this_one(
    world: None, client: Client, spending: Any
) -> None:
    first = client.get("/api/v1/instance").json()
    site_counts._Memory.fresh_until = 0
    with spending() as spent:
        assert client.get("/api/v1/instance").json()["stats"] == first["stats"]
    assert spent.queries == []


def test_unknown_paths_and_methods_answer_in_json(client: Client) -> None:
    assert client.get("/api/v1/nothing").json() == {"error": "Record not found"}
    refused = client.delete("/api/v1/accounts/lookup")
    assert (refused.status_code, refused["Allow"]) == (405, "GET, HEAD")
    assert refused.json() == {"error": "Method not allowed"}


def test_the_schema_tells_the_truth(member: Person) -> None:
    for path, shape in [
        (SELF, schema.CredentialAccountEntity),
        ("/api/v1/accounts/lookup?acct=ann", schema.AccountEntity),
        ("/api/v1/apps/verify_credentials", schema.ApplicationEntity),
        ("/api/v1/instance", schema.InstanceEntity),
        ("/api/v2/instance", schema.InstanceV2Entity),
    ]:
        answer = member.get(path).json()
        of_people = [name for name in shape().get_fields() if name != "object"]
        assert list(answer) == of_people, path
