"""Each text that a client may send has a longest length; a longer one is refused and not stored."""

from typing import Any

import orjson
import pytest
from django.conf import settings
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from tests.callers import Caller, token_of
from tests.world import make_accounts

NAME, LONG = "x", "x" * 120_000
APP = {"client_name": NAME, "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read"}
SIGN_UP = {"username": "ann", "email": "a@example.org", "password": "correct horse battery"}
# By path: a body that is accepted.
BODIES: dict[str, dict[str, Any]] = {
    "/api/v1/apps": APP | {"website": "https://a.example"},
    "/api/v1/accounts": SIGN_UP | {"agreement": True},
    "/api/v1/accounts/update_credentials": {"display_name": NAME, "note": NAME},
    "/api/v1/statuses": {
        "status": NAME,
        "spoiler_text": NAME,
        "language": "en",
        "in_reply_to_id": None,
        "visibility": "public",
    },
    "/api/v1/reports": {"comment": NAME, "category": "spam", "account_id": "0"},
    "/api/v1/lists": {"title": NAME, "replies_policy": "list"},
    "/api/v1/lists/{list_id}": {"title": NAME, "replies_policy": "list"},
}
# Their texts are ids, each checked where it is read, or the path needs more than a caller.
EXEMPT = {
    "/api/v1/accounts/followed_by",
    "/api/v1/lists/{list_id}/accounts",
    "/api/v1/markers",
    "/api/v1/strikes/{strike_id}/appeal",
}
FIELDS = [(path, name) for path, body in BODIES.items() for name in body if name != "agreement"]


def send(path: str, body: dict[str, Any]) -> Any:
    """As the account or the application that may do it."""
    ann, bob = make_accounts(2)
    body = body | ({"account_id": str(bob)} if body.get("account_id") == "0" else {})
    caller = Caller(ann, "read write").client
    if path == "/api/v1/accounts":
        caller = Client(headers={"Authorization": f"Bearer {token_of(None, 'write')}"})
    method = "PATCH" if path.endswith("credentials") else "POST"
    if "{list_id}" in path:
        made = caller.post("/api/v1/lists", {"title": NAME}).json()["id"]
        path, method = path.replace("{list_id}", made), "PUT"
    return caller.generic(method, path, orjson.dumps(body), "application/json")


@pytest.mark.parametrize("path", BODIES)
def test_the_bodies_of_this_test_are_accepted(world: None, path: str) -> None:
    answer = send(path, BODIES[path])
    assert answer.status_code == 200, answer.content


@pytest.mark.parametrize(("path", "name"), FIELDS)
def test_a_very_long_text_is_refused(world: None, path: str, name: str) -> None:
    assert len(LONG) > settings.POST_MAX_CHARACTERS
    answer = send(path, BODIES[path] | {name: LONG})
    assert answer.status_code in ({404, 422} if name.endswith("_id") else {422}), answer.content
    assert len(answer.content) < 1_000, "the text is not sent back"


def test_no_text_of_a_body_is_forgotten_here() -> None:
    document: Any = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for name in texts_of(operation, document) if path not in EXEMPT else ():
                assert name in BODIES.get(path, {}), (path, name)


def texts_of(operation: Any, document: Any) -> list[str]:
    """The names of the text fields of a request body."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    properties = document["components"]["schemas"].get(reference, {}).get("properties", {})
    return [name for name, one in properties.items() if one.get("type") == "string"]
