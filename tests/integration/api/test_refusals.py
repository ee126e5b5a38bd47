"""What every operation of the API refuses: callers, methods, ids, cursors, limits and bodies.

Found from the routes and from the OpenAPI document, so that no operation is forgotten. Which scope
an operation needs is in tests/contract/role_matrix.txt.

Refusals of each route and method: they count against a quota and say what is left of it, and a
missing scope is named.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.scopes import BROAD, DESCRIPTIONS
from accounts.scopes import OF_SERVICES as SERVICE_SCOPES
from infra.api.endpoint import METHODS, Access, Endpoint
from lab.accept.facts import openapi_document
from lab.accept.routes import iter_endpoints
from posts.ids import LAST
from tests.callers import Caller, assert_refused
from tests.integration.api.written_routes import OF_SERVICES, WRITES, Scene
from tests.push_service import Device
from tests.reads import API
from tests.truth import everything_written
from tests.world import make_account

PLACEHOLDER = re.compile(r"<(\w+):(\w+)>")
FILLINGS = {"name": "tea", "tag_id": "1", "rule_id": "1", "notification_id": "11"}
FILLINGS |= {
    "group_key": "follow-1",
    "conversation_id": "1",
    "external_id": "u1",
    "type_name": "recipe.cooked",
    "reaction": "favourite",
    "reaction_name": "clap",
    "kind": "recipe",
    "campaign_id": "1",
}
UNKNOWN = "2000000000"
# Texts in a path that name no account, no post, and nothing of the caller's own.
NO_IDS = {
    "account": [
        "0", "-1", UNKNOWN, "2176782336", "4294967296", "18446744073709551616", "9" * 400,
        "abc", "1.0", "1e3", "0x10", "%00", "1%00", "%F0%9F%8C%8A", "%ED%A0%80", "%D9%A3",
        "..%2F1", "1;DROP", "1%20",
    ],
    "post": [
        "0" * 14, LAST.base36, LAST.public, str(36**14), "9" * 400, "0" * 13, "0" * 15, "1", "-1",
        "18446744073709551616", "z" * 400, "0x" + "1" * 13, "0000010000020Z", "%00" * 14,
        "0000010000020%00", "%F0%9F%8C%8A", "%ED%A0%80" * 14, "+" * 14, "0000010000020%D9%A3",
        "..%2F1",
    ],
    "str": ["x", "0", "-1", "1" * 19, "9" * 18, "9" * 400, "1.5", "%D9%A1", "%00", "null", "1%20"],
}  # fmt: skip
BAD_CURSORS = [
    "x", "-1", "9" * 41, "z" * 400, "\x00", "0" * 15 + "\x00", "\u0663" * 15, "\U0001f30a",
    "Z" * 15, "-" * 15, "\u00e9" * 23, "%ED%A0%80", "' OR 1=1 --",
]  # fmt: skip
BAD_LIMITS = ["-1", "abc", "1.5", "9" * 40, "18446744073709551616", "\x00", "\u0663", "1e3"]
BAD_BODIES = [
    ("application/json", b"{"),
    ("application/json", b"[]"),
    ("application/json", b"7"),
    ("application/json", b'"title"'),
    ("application/json", b'{"a": "\\ud800"}'),
    ("application/json", b'{"a": "\xff"}'),
    ("application/json", b'{"a": NaN}'),
    ("application/json", b"[" * 100_000),
    ("text/plain", b"hello"),
    ("application/xml", b"<a/>"),
    ("application/json; charset=utf-16", '{"a": "b"}'.encode("utf-16")),
    ("multipart/form-data", b"no boundary"),
    ("multipart/form-data; boundary=x", b"--x\r\nnonsense"),
]


class Operation(NamedTuple):
    method: str
    route: str
    access: Access


def operations() -> Iterator[Operation]:
    for route, view in iter_endpoints():
        for method, access in view._accesses.items():
            if method != "HEAD" and route.path.startswith(API):
                yield Operation(method, route.path, access)


@pytest.fixture
def scene(world: None) -> Scene:
    return Scene(Device(), "new")


def service_client() -> Client:
    return Caller(None, " ".join(SERVICE_SCOPES)).client


def path_of(route: str, scene: Scene, **other: str) -> str:
    names = FILLINGS | scene.names | other
    return "/" + PLACEHOLDER.sub(lambda found: names[found[2]], route)


def ask(client: Client, method: str, path: str) -> Any:
    return client.generic(method, path, b"{}", "application/json")


def test_each_operation_wants_its_scope_and_a_user(scene: Scene) -> None:
    """All other scopes together are not enough; nor is an application, or a token of no account."""
    me = scene.me.client
    granular = [one for one in DESCRIPTIONS if one not in BROAD or one == "push"]
    unknown = Client(headers={"Authorization": "Bearer nonsense"})
    by_scope: dict[str, Client] = {}
    application = Caller(None, "read write follow push").client
    account = me.get("/api/v1/accounts/verify_credentials").json()["id"]
    before = everything_written()
    for method, route, access in operations():
        path = path_of(route, scene)
        if access.needs_token or access.scope:
            assert_refused(ask(unknown, method, path), 401)
        if (scope := access.scope) is not None:
            if scope not in by_scope:
                others = [one for one in granular if one != scope]
                # It is a part of read:accounts.
                others = others if scope != "profile" else [*others, "write"]
                others = [one for one in others if (scope, one) != ("profile", "read:accounts")]
                by_scope[scope] = Caller(int(account), " ".join(others)).client
            assert_refused(ask(by_scope[scope], method, path), 403)
        if access.needs_user:
            assert_refused(ask(application, method, path), 422)
    assert everything_written() == before


def test_each_route_names_the_methods_that_it_has(scene: Scene) -> None:
    for route in {one.route for one in operations()}:
        there = {one.method for one in operations() if one.route == route}
        for method in {*METHODS} - there:
            answer = ask(scene.me.client, method, path_of(route, scene))
            assert_refused(answer, 405)
            assert {*answer["Allow"].split(", ")} - {"HEAD"} == there, route


def test_ids_that_are_none(scene: Scene, settings: Settings) -> None:
    settings.QUOTA_PER_ACCOUNT = 1_000_000
    service = service_client()
    before = everything_written()
    for method, route, access in operations():
        is_of_services = f"/{route}".startswith(OF_SERVICES)
        client = service if is_of_services else scene.me.client
        for kind, name in PLACEHOLDER.findall(route):
            for text in NO_IDS.get(kind, ()):
                if text == UNKNOWN and "notifications/requests/" in route:
                    continue  # Whoever it is, nothing of theirs is held back.
                answer = ask(client, method, path_of(route, scene, **{name: text}))
                # Some read the parameters first, and these are none. Some texts are no external id.
                reads_first = access.is_write or is_of_services
                assert_refused(answer, 404, *((422,) if reads_first else ()))
    assert everything_written() == before


def test_cursors_and_limits_that_are_none(scene: Scene, settings: Settings) -> None:
    settings.QUOTA_PER_ACCOUNT = 1_000_000
    lists, service = 0, service_client()
    for path, names in documented_queries():
        address = path.format(**FILLINGS | scene.names)
        needed = {"q": "person", "bound": scene.names["bound"]}
        query = {name: text for name, text in needed.items() if name in names}
        cursors = names & {"max_id", "since_id", "min_id", "around_id"}
        lists += len(cursors) >= 3
        for name, text in [*product(cursors, BAD_CURSORS), *product({"limit"} & names, BAD_LIMITS)]:
            client = service if path.startswith(OF_SERVICES) else scene.me.client
            assert_refused(client.get(address, query | {name: text}), 422)
    assert lists > 20


def documented_queries() -> Iterator[tuple[str, set[str]]]:
    """Path and names of each GET with a query."""
    for path, methods in openapi_document()["paths"].items():
        parameters = methods.get("get", {}).get("parameters", ())
        yield path, {one["name"] for one in parameters if one["in"] == "query"}


def test_bodies_that_are_none(scene: Scene) -> None:
    before = everything_written()
    for write in WRITES:
        for kind, body in BAD_BODIES:
            path = scene.fill(write.template)
            answer = scene.me.client.generic(write.method, path, body, kind)
            assert_refused(answer, 400, 415, 422, 403)
    assert everything_written() == before


HOLE = re.compile(r"<\w+:\w+>")
IMPOSSIBLE = ("0", "x", "9" * 60, "%00", "a/b")
NO_METHOD = "PROPFIND"


def endpoints() -> Iterator[tuple[str, type[Endpoint]]]:
    for route, view in iter_endpoints():
        yield f"/{route.path}", view


def _possible(route: str) -> str:
    return HOLE.sub("1", route.replace("<tag:name>", "tea"))


@pytest.fixture
def clients(world: None) -> dict[str, Client]:
    return {
        "guest": Client(),
        "person": Caller(make_account()).client,
        "refused": Client(headers={"Authorization": "Bearer nonsense"}),
    }


@pytest.mark.parametrize("who", ["guest", "person", "refused"])
def test_every_refusal_says_what_is_left(clients: dict[str, Client], who: str) -> None:
    client, lacking = clients[who], list[str]()
    for route, view in endpoints():
        paths = {HOLE.sub(text, route) for text in IMPOSSIBLE}
        for path in paths:
            for method in (*view._accesses, NO_METHOD):
                body = {"data": "", "content_type": "application/json"}
                answer = client.generic(method, path, **({} if method == "GET" else body))
                if answer.status_code >= 400 and "X-RateLimit-Limit" not in answer.headers:
                    lacking.append(f"{method} {path}: {answer.status_code}")
    assert lacking == []


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        ("/api/v1/nothing/here", {}, 404),
        ("/api/v1/statuses", {"HTTP_TIDELINE_DEADLINE_MS": "soon"}, 422),
        ("/api/v1/statuses", {"CONTENT_LENGTH": str(10**12)}, 413),
    ],
)
def test_so_does_a_request_that_no_endpoint_gets(
    clients: dict[str, Client], path: str, more: dict[str, str], status: int
) -> None:
    left = []
    for _ in range(2):
        answer = clients["person"].generic("POST", path, **more)
        assert answer.status_code == status, answer.content
        left.append(int(answer["X-RateLimit-Remaining"]))
    assert left[0] == left[1] + 1


def test_each_route_names_the_scope_that_a_token_lacks(world: None) -> None:
    client, wrong = Caller(make_account(), scope="").client, list[str]()
    for route, view in endpoints():
        for method, scope in view.scopes.items():
            answer = client.generic(method, _possible(route))
            named = answer.status_code == 403 and scope in answer.json()["error"].split()
            if not named or f'scope="{scope}"' not in answer.get("WWW-Authenticate", ""):
                wrong.append(f"{method} {route}: {answer.status_code} {answer.content[:90]!r}")
    assert wrong == []
