"""Refusals of each route and method: they count against a quota and say what is left of it, and a
missing scope is named."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client

from infra.api.endpoint import Endpoint
from lab.accept.routes import iter_endpoints
from tests.callers import Caller
from tests.world import make_account

PLACEHOLDER = re.compile(r"<\w+:\w+>")
IMPOSSIBLE = ("0", "x", "9" * 60, "%00", "a/b")
NO_METHOD = "PROPFIND"


def endpoints() -> Iterator[tuple[str, type[Endpoint]]]:
    for route, view in iter_endpoints():
        yield f"/{route.path}", view


def _possible(route: str) -> str:
    return PLACEHOLDER.sub("1", route.replace("<tag:name>", "tea"))


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
        paths = {PLACEHOLDER.sub(text, route) for text in IMPOSSIBLE}
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
