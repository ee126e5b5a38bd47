"""Parameters of writes mean the same in JSON, in both kinds of forms, and in the query."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client, override_settings

from lab.accept.facts import openapi_document
from tests.callers import Caller
from tests.integration.api.encodings import ENCODINGS, Sent, as_multipart, as_query
from tests.integration.api.written_routes import ACCOUNT, OF_SERVICES, WRITES, Scene, Write
from tests.pictures import picture, upload
from tests.push_service import Device
from tests.sign_ups import FAST_HASHERS, App

STATUSES = "/api/v1/statuses"
PLACEHOLDER = re.compile(r"\{\w+\}")


# Ids, times, names of accounts, and secrets.
DIFFERENT = re.compile(
    r'"(?:access_token|client_id|client_secret|url|preview_url)":"[^"]+"'
    r"|\d{2,}(?:-\d\d)*(?:T[\d:.]+Z)?|(?<=[\"/])\d+(?=[\"/])|(?<=person)\d+"
)


def operations_with_parameters() -> set[tuple[str, str]]:
    """The documented writes that have a body or a query."""
    return {
        (method.upper(), path)
        for path, operations in openapi_document()["paths"].items()
        for method, operation in operations.items()
        if method != "get" and (operation.get("requestBody") or _has_query(operation))
    }


def _has_query(operation: Mapping[str, Any]) -> bool:
    return any(one["in"] == "query" for one in operation.get("parameters", ()))


def send(client: Client, write: Write, path: str, sent: Sent) -> Any:
    query, body, kind = sent
    return client.generic(write.method, path, body, kind, QUERY_STRING=query)


def answers(encoding: str, device: Device) -> list[tuple[str, int, str]]:
    """What all writes answer in a new scene, without what is different for each account."""
    scene, found = Scene(device, f"new_{encoding}"), []
    for write in WRITES:
        sender = Caller(None, "write") if write.template == ACCOUNT else scene.me
        sent = _encode(encoding, write, scene.fill(write.parameters))
        answer = send(sender.client, write, scene.fill(write.template), sent)
        found.append((str(write[:2]), answer.status_code, _without_ids(scene, answer)))
    return found


def _without_ids(scene: Scene, answer: Any) -> str:
    text = answer.content.decode()
    for name, value in scene.names.items():
        # An account's id may also be a part of a post's.
        text = re.sub(rf"\b{re.escape(value)}\b", name, text) if len(value) > 3 else text
    return DIFFERENT.sub("…", text)


def _encode(encoding: str, write: Write, parameters: Mapping[str, Any]) -> Sent:
    """A file is always in a multipart body."""
    if not write.has_file:
        return ENCODINGS[encoding](parameters)
    file = {"file": upload(picture())}
    if encoding == "query":
        return (as_query(parameters)[0], *as_multipart(file)[1:])
    return as_multipart({**parameters, **file})


# tests/integration/posts/test_translated_posts.py, tests/integration/relations/test_undo.py
NEED_MORE = {"/api/v1/statuses/{status_id}/translate", "/api/v1/accounts/{account_id}/undo"}


def test_the_table_has_all_writes_with_parameters() -> None:
    of_accounts = {
        (method, path)
        for method, path in operations_with_parameters()
        if not path.startswith(OF_SERVICES) and path not in NEED_MORE
    }
    assert of_accounts == {(one.method, one.template) for one in WRITES}


@override_settings(PASSWORD_HASHERS=FAST_HASHERS)
def test_all_encodings_of_a_write_have_the_same_answer(world: None) -> None:
    device = Device()
    expected = answers("json", device)
    refused = [(name, text) for name, status, text in expected if status != 200]
    assert refused == []
    for encoding in ("form", "multipart", "query"):
        assert different(answers(encoding, device), expected) == [], encoding


def refusals(encoding: str, device: Device) -> list[tuple[str, int, str]]:
    """Each parameter once as an object, which none of them is, and each route without its thing."""
    scene, found = Scene(device, f"bad_{encoding}"), []
    for write in WRITES:
        if write.has_file or write.template == ACCOUNT:
            continue
        tries = [(scene.fill(write.template), {name: {"odd": "1"}}) for name in write.parameters]
        for path, wrong in (*tries, (PLACEHOLDER.sub("999999999", write.template), {})):
            sent = ENCODINGS[encoding](scene.fill({**write.parameters, **wrong}))
            answer = send(scene.me.client, write, path, sent)
            found.append((f"{write[:2]} {wrong}", answer.status_code, _without_ids(scene, answer)))
    return found


def test_all_encodings_of_a_write_are_refused_alike(world: None) -> None:
    device = Device()
    expected = refusals("json", device)
    assert {status for _, status, _ in expected} <= {200, 400, 404, 422}
    assert sum(status in (404, 422) for _, status, _ in expected) > 60
    for encoding in ("form", "multipart", "query"):
        assert different(refusals(encoding, device), expected) == [], encoding


def different(found: list[Any], expected: list[Any]) -> list[Any]:
    return [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]]


@pytest.mark.parametrize("encoding", ["json", "form", "multipart"])
def test_a_post_has_the_visibility_of_its_query_unless_its_body_has_one(
    me: Caller, encoding: str
) -> None:
    _, body, kind = ENCODINGS[encoding]({"status": "for few"})
    closed = me.client.generic("POST", STATUSES, body, kind, QUERY_STRING="visibility=private")
    assert closed.json()["visibility"] == "private"
    _, body, kind = ENCODINGS[encoding]({"status": "for few", "visibility": "direct"})
    closed = me.client.generic("POST", STATUSES, body, kind, QUERY_STRING="visibility=public")
    assert closed.json()["visibility"] == "direct"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_key_makes_one_post_in_every_encoding(me: Caller, encoding: str) -> None:
    """The only documented header of a write. A refused request does not use it up."""

    def publish(key: str, **parameters: object) -> Any:
        query, body, kind = ENCODINGS[encoding](parameters)
        headers = {"Idempotency-Key": key}
        return me.client.generic("POST", STATUSES, body, kind, QUERY_STRING=query, headers=headers)

    assert publish("a", status="").status_code == 422
    assert publish("a", status="hello", in_reply_to_id="1").status_code == 404
    first, again = (publish("a", status="hello").json()["id"] for _ in range(2))
    assert (again, publish("b", status="hello").json()["id"] != first) == (first, True)
    assert publish("x" * 256, status="hello").status_code == 422


def test_a_list_of_the_body_replaces_the_one_of_the_query(me: Caller) -> None:
    made = me.post("/api/v2/filters?context[]=home&title=a", {"context": ["public"]})
    assert (made.json()["context"], made.json()["title"]) == (["public"], "a")


def test_secrets_are_not_read_from_an_address(client: Client, world: None) -> None:
    keys = App.register(client).credentials
    query = as_query(keys | {"grant_type": "client_credentials"})[0]
    assert client.post(f"/oauth/token?{query}").status_code == 400
    assert (
        client.post("/oauth/token", keys | {"grant_type": "client_credentials"}).status_code == 200
    )


@pytest.mark.parametrize("query", ["poll=a&poll[options][]=b", "poll[options]=a&poll[options][]=b"])
def test_a_name_that_is_two_things_is_refused(me: Caller, query: str) -> None:
    answer = me.post(f"{STATUSES}?status=a&{query}")
    assert (answer.status_code, answer.json()["error"].endswith("is sent in two forms")) == (
        422,
        True,
    )
