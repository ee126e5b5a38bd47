"""What caches and browsers may do with answers of the API: reads, errors, tokens and secrets."""

from typing import Any

from django.test import Client

from tests.callers import Caller
from tests.reads import World, all_reads
from tests.sign_ups import OUT_OF_BAND, PASSWORD, App
from tests.world import make_account, publish


def headers_of(answer: Any) -> tuple[str, str, str]:
    return answer["Cache-Control"], answer["Vary"], answer["X-Content-Type-Options"]


OF_ONE_CALLER = ("private, no-cache", "Authorization, Tideline-Account", "nosniff")


def test_no_shared_cache_may_keep_an_answer(world: None) -> None:
    ann = make_account("ann")
    caller, anonymous = Caller(ann), Client()
    reads = all_reads(World({ann: "ann"}, [publish(ann).public], ["1"]))
    for read in reads:
        for client in (caller.client, anonymous):
            answer = client.get(read.path) if read.body is None else caller.post(read.path)
            assert headers_of(answer) == OF_ONE_CALLER, (read, answer.status_code)
    assert len({read.template for read in reads}) > 30


def test_errors_and_writes_have_the_same_headers(world: None) -> None:
    caller = Caller(make_account())
    answers = [
        caller.post("/api/v1/statuses", {"status": "hello"}),
        caller.post("/api/v1/statuses", {}),
        caller.get("/api/v1/nothing"),
        caller.delete("/api/v1/timelines/home"),
        caller.client.post("/api/v1/statuses", b"{", "application/json"),
        Client().get("/api/v1/timelines/home"),
        Client(headers={"Authorization": "Bearer nonsense"}).get("/api/v1/timelines/home"),
        Client().get("/health/live"),
    ]
    assert [answer.status_code for answer in answers] == [200, 422, 404, 405, 400, 401, 401, 200]
    assert {headers_of(answer) for answer in answers} == {OF_ONE_CALLER}


def test_no_cache_at_all_may_keep_a_token_or_a_secret(world: None) -> None:
    client = Client()
    form = {"client_name": "Reader", "redirect_uris": OUT_OF_BAND, "scopes": "read"}
    app = App.register(client)
    ann = {"username": "ann", "email": "ann@example.org", "password": PASSWORD, "agreement": True}
    signed_up = app.ask_sign_up(**ann)
    answers = [
        client.post("/api/v1/apps", form),
        app.ask_token(grant_type="client_credentials", scope="read"),
        app.ask_token(grant_type="nonsense"),
        signed_up,
        app.revoke(signed_up.json()["access_token"]),
        app.revoke("nonsense"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 200, 200, 200]
    assert {answer["Cache-Control"] for answer in answers} == {"no-store"}
    assert {answer["X-Content-Type-Options"] for answer in answers} == {"nosniff"}
