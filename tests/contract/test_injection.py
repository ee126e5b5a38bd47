"""Texts that mean something to SQL, Redis or HTTP, in every parameter of the OpenAPI document.

None of them makes an error of ours, changes what others have, or gets into the name of a Redis key.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import orjson
import pytest
from django.test import Client
from pytest_django import Settings

from infra.caching.client import redis
from lab.accept.facts import openapi_document
from operations.verbs.caches import NOT_CACHES, PURGEABLE
from tests.callers import Caller, token_of
from tests.contract.roles import Scene
from tests.contract.test_role_matrix import FILLINGS, body_of
from tests.sign_ups import FAST_HASHERS
from tests.truth import rows_of
from tests.world import drain_all

# Each means something to several of them, and is short enough for most parameters.
TEXTS = [
    "' OR 1=1; DELETE FROM posts_post; --", "$1 %s %(id)s \\'\"", "\x00",
    "\r\nFLUSHDB\r\n}:caching.viewer:v1:{1}", "../1:*\u2028",
]  # fmt: skip
# family:v1:{owner}:part, with a checksum of the site in between. Parts are ours, never a text of
# the client.
KEY = re.compile(r"[a-z_.]+:v\d+(:[0-9a-f]{8})?:\{[\w.-]+\}(:[\w.:-]+)?|django:1:\w+")
METHODS = ("get", "post", "put", "patch", "delete")
PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Operation(NamedTuple):
    """One operation of the document. `queries`, `fields`: names of its parameters. `inner`: the
    names that forms have for what is inside of fields."""

    method: str
    path: str
    queries: list[str]
    fields: list[str]
    inner: list[str]


def operations() -> Iterator[Operation]:
    document = openapi_document()
    for path, described in document["paths"].items():
        for method in METHODS & described.keys():
            one = described[method]
            queries = [p["name"] for p in one.get("parameters", []) if p["in"] == "query"]
            content = one.get("requestBody", {}).get("content", {}).get("application/json", {})
            fields = _properties(document, content.get("schema", {}))
            inner = [*_form_names(document, fields)]
            yield Operation(method.upper(), path, queries, [*fields], inner)


def _properties(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    [schema] = schema.get("allOf") or schema.get("oneOf", [])[:1] or [schema]
    name = schema.get("$ref", "").rpartition("/")[2]
    schemas: Mapping[str, Any] = document["components"]["schemas"]
    fields: Mapping[str, Any] = schemas.get(name, schema).get("properties", {})
    return fields


def _form_names(document: Mapping[str, Any], fields: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in fields.items():
        is_list = "items" in schema
        yield f"{name}[]"
        for inner in _properties(document, schema.get("items", schema)):
            yield f"{name}[0][{inner}]" if is_list else f"{name}[{inner}]"


class Injection:
    """Requests of a caller about a scene, each with one text in one place."""

    def __init__(self, scene: Scene, client: Client) -> None:
        self.scene, self.client = scene, client

    def statuses(self, operation: Operation, text: str) -> set[int]:
        names = PLACEHOLDER.findall(operation.path)
        paths = [self.path(operation, {name: text}) for name in names]
        right = self.path(operation, {})
        paths += [f"{right}?{urlencode({name: text})}" for name in operation.queries]
        asked = [self._ask(operation, path, self.body(operation)) for path in paths]
        bodies = [self.body(operation) | {name: text} for name in operation.fields]
        if text == TEXTS[0]:  # in a list: what is refused there does not depend on the text
            bodies += [self.body(operation) | {name: [text]} for name in operation.fields]
        asked += [self._ask(operation, right, body) for body in bodies]
        return {*asked, self._ask(operation, right, self.body(operation), text)}

    def _ask(self, operation: Operation, path: str, body: Any, key: str = "") -> int:
        headers = {"Idempotency-Key": key} if key else {}
        return self.send(operation, path, orjson.dumps(body), headers=headers).status_code

    def send(
        self,
        operation: Operation,
        path: str,
        sent: bytes,
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        return self.client.generic(operation.method, path, sent, kind, headers=headers)

    def path(self, operation: Operation, texts: Mapping[str, str]) -> str:
        def fill(match: re.Match[str]) -> str:
            return quote(texts.get(match[1]) or str(FILLINGS[match[1]](self.scene)), safe="")

        return PLACEHOLDER.sub(fill, operation.path)

    def body(self, operation: Operation) -> dict[str, Any]:
        return body_of(operation.method, operation.path, self.scene)


def seen_by_owner(scene: Scene) -> list[bytes]:
    owner = Caller(scene.owner)
    accounts = f"/api/v1/accounts/{scene.owner}"
    paths = [
        "/api/v1/accounts/verify_credentials", f"{accounts}/statuses", f"{accounts}/following",
        f"{accounts}/followers", "/api/v1/lists", f"/api/v1/lists/{scene.list_id}/accounts",
        "/api/v1/strikes", "/api/v1/blocks", "/api/v1/mutes", "/api/v1/bookmarks",
        f"/api/v1/statuses/{scene.post.public}", "/api/v1/timelines/home",
    ]  # fmt: skip
    return [owner.get(path).content for path in paths]


def strange_keys() -> list[str]:
    names = [name.decode(errors="replace") for name in redis().call("KEYS", "*")]
    known = {*PURGEABLE, *NOT_CACHES, "django"}
    return [n for n in names if not KEY.fullmatch(n) or n.partition(":")[0] not in known]


@pytest.fixture
def unbounded(settings: Settings) -> None:
    """Limits would refuse most of these requests."""
    settings.PASSWORD_HASHERS = FAST_HASHERS
    for name in ("QUOTA_PER_ACCOUNT", "FOLLOWS_PER_DAY", "REPORTS_PER_DAY"):
        setattr(settings, name, 1_000_000)


@pytest.mark.slow
def test_no_text_is_run_or_becomes_a_key(world: None, unbounded: None) -> None:
    scene, victim = Scene("other"), Scene("other")
    everything, answered = list(operations()), Counter[int]()
    injection = Injection(scene, scene.client("other"))
    drain_all()
    before, posts = seen_by_owner(victim), rows_of("SELECT count(*) FROM posts_post")
    for operation in everything:
        for text in TEXTS:
            statuses = injection.statuses(operation, text)
            assert max(statuses) < 500, (operation, text)
            answered.update(statuses)
    drain_all()
    assert len(everything) > 50
    assert not answered[429]
    assert all(answered[status] > len(TEXTS) for status in (200, 404, 422)), answered
    assert seen_by_owner(victim) == before
    assert rows_of("SELECT count(*) FROM posts_post") >= posts
    assert strange_keys() == []


def test_no_token_becomes_a_key(world: None) -> None:
    token_of(None)
    for text in TEXTS:
        sent = text.encode().decode("latin-1")
        answer = Client(headers={"Authorization": f"Bearer {sent}"}).get("/api/v1/timelines/home")
        assert answer.status_code in {400, 401}, text
    assert strange_keys() == []
