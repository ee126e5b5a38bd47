"""Each text that a client may send has a longest length; a longer one is refused and not stored."""

from collections.abc import Callable
from typing import Any

import orjson
from django.conf import settings
from django.test import Client

from lab.accept.facts import openapi_document
from tests.callers import Caller, token_of
from tests.pictures import picture, upload
from tests.world import make_accounts

NAME, LONG = "x", "x" * 120_000
APP = {"client_name": NAME, "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read"}
SIGN_UP = {"username": "ann", "email": "a@example.org", "password": "correct horse battery"}
FILTER, EDIT = {"phrase": NAME, "context": ["home"]}, {"status": NAME, "spoiler_text": NAME}
TITLED = {"title": NAME, "context": ["home"]}
# By method and path: a body that is accepted.
BODIES: dict[str, dict[str, Any]] = {
    "post /api/v1/conversations/{conversation_id}/read": {"up_to": "1"},
    "post /api/v1/apps": APP | {"website": "https://a.example"},
    "post /api/v1/accounts": SIGN_UP | {"agreement": True, "locale": "de", "reason": NAME},
    "patch /api/v1/accounts/update_credentials": {"display_name": NAME, "note": NAME},
    "patch /api/v1/profile": {"display_name": NAME, "note": NAME},
    "post /api/v1/statuses": EDIT
    | {"language": "en", "in_reply_to_id": None, "visibility": "public", "scheduled_at": None}
    | {"quoted_status_id": None, "type": "status", "custom": "{}"},
    "put /api/v1/scheduled_statuses/{scheduled_id}": {"scheduled_at": "2036-01-01"},
    "put /api/v1/statuses/{status_id}": EDIT | {"language": "en", "type": "status", "custom": "{}"},
    "put /api/v1/media/{media_id}": {"description": NAME, "focus": "0.5,0.5"},
    "post /api/v1/reports": {"comment": NAME, "category": "spam", "account_id": "0"},
    "post /api/v1/lists": {"title": NAME, "replies_policy": "list"},
    "put /api/v1/lists/{list_id}": {"title": NAME, "replies_policy": "list"},
    "post /api/v1/accounts/{account_id}/note": {"comment": NAME},
    "post /api/v1/featured_tags": {"name": NAME},
    "post /api/v1/filters": FILTER,
    "put /api/v1/filters/{keyword_id}": FILTER,
    "post /api/v2/filters": TITLED,
    "put /api/v2/filters/{filter_id}": TITLED,
    "post /api/v2/filters/{filter_id}/keywords": {"keyword": NAME},
    "put /api/v2/filters/keywords/{keyword_id}": {"keyword": NAME},
}
# Their texts are ids, each checked where it is read, or the path needs more than a caller; services
# have tests of their own.
EXEMPT = {
    "post /api/v1/statuses/{status_id}/translate",
    "post /api/v1/accounts/followed_by",
    "post /api/v1/accounts/{account_id}/undo",
    "post /api/v1/lists/{list_id}/accounts",
    "delete /api/v1/lists/{list_id}/accounts",
    "post /api/v1/markers",
    "post /api/v1/timelines/home/catch_up",
    "post /api/v1/strikes/{strike_id}/appeal",
    "put /api/v1/services/accounts/{external_id}",
    "put /api/v1/services/objects/{kind}/{external_id}",
    "post /api/v2/filters/{filter_id}/statuses",
}
FIELDS = [(path, name) for path, body in BODIES.items() for name in body if name != "agreement"]


def send(operation: str, body: dict[str, Any]) -> Any:
    """As the account or the application that may do it."""
    method, path = operation.split()
    ann, bob = make_accounts(2)
    body = body | ({"account_id": str(bob)} if body.get("account_id") == "0" else {})
    caller = Caller(ann, "read write").client
    path = path.replace("{account_id}", str(bob))
    for name, make in MAKERS.items():
        if name in path:
            path = path.replace(name, make(caller))
    if path == "/api/v1/accounts":
        caller = Client(headers={"Authorization": f"Bearer {token_of(None, 'write')}"})
    return caller.generic(method.upper(), path, orjson.dumps(body), "application/json")


def made(answer: Any) -> str:
    return str(answer.json()["id"])


def make_filter(caller: Any) -> Any:
    keywords = [{"keyword": NAME}]
    body = TITLED | {"keywords_attributes": keywords}
    return caller.post("/api/v2/filters", body, "application/json").json()


MAKERS: dict[str, Callable[[Any], str]] = {
    "{list_id}": lambda caller: made(caller.post("/api/v1/lists", {"title": NAME})),
    "{conversation_id}": lambda caller: made(
        caller.post("/api/v1/statuses", {"status": "y", "visibility": "direct"})
    ),
    "{status_id}": lambda caller: made(caller.post("/api/v1/statuses", {"status": "y"})),
    "{filter_id}": lambda caller: make_filter(caller)["id"],
    "{keyword_id}": lambda caller: make_filter(caller)["keywords"][0]["id"],
    "{scheduled_id}": lambda caller: made(
        caller.post("/api/v1/statuses", {"status": "y", "scheduled_at": "2036-01-01"})
    ),
    "{media_id}": lambda caller: made(caller.post("/api/v2/media", {"file": upload(picture())})),
}


def test_the_bodies_of_this_test_are_accepted(world: None) -> None:
    for path in BODIES:
        answer = send(path, BODIES[path])
        assert answer.status_code == 200, answer.content


def test_a_very_long_text_is_refused(world: None) -> None:
    for path, name in FIELDS:
        assert len(LONG) > settings.POST_MAX_CHARACTERS, (path, name)
        answer = send(path, BODIES[path] | {name: LONG})
        assert answer.status_code in ({404, 422} if name.endswith("_id") else {422}), answer.content
        assert len(answer.content) < 1_000, "the text is not sent back"


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
VISIBLE = {
    "display_name": ("patch /api/v1/accounts/update_credentials", 100),
    "note": ("patch /api/v1/accounts/update_credentials", 500),
    "status": ("post /api/v1/statuses", 500),
    "spoiler_text": ("post /api/v1/statuses", 499),
    "description": ("put /api/v1/media/{media_id}", 1_500),
}


def test_a_character_is_one_that_people_see(world: None) -> None:
    for name in VISIBLE:
        for sign in [FAMILY, "e\u0301", "\u0915\u094d\u0937\u093f"]:
            operation, most = VISIBLE[name]
            body = {"status": "x"} if "statuses" in operation else {}
            kept = send(operation, body | {name: sign * most})
            assert kept.status_code == 200, kept.content
            for text in (sign * (most + 1), "e" + "\u0301" * 20 * most):
                assert send(operation, body | {name: text}).status_code == 422, (sign, name)


def test_a_name_of_one_long_word_is_kept_and_found(world: None) -> None:
    ann = Caller(make_accounts(1)[0], "read write").client
    name = "\u0915\u094d" * 100 + "\u0301" * 700
    sent = orjson.dumps({"display_name": f" {name} ", "note": " \u2003 "})
    path = "/api/v1/accounts/update_credentials"
    kept = ann.patch(path, sent, "application/json").json()
    assert (kept["display_name"], kept["note"]) == (name, "")
    found = ann.get("/api/v1/accounts/search", {"q": "\u0915\u094d" * 3}).json()
    assert [one["display_name"] for one in found] == [name]


def test_no_text_of_a_body_is_forgotten_here() -> None:
    document = openapi_document()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if (key := f"{method} {path}") not in EXEMPT:
                assert set(texts_of(operation, document)) <= BODIES.get(key, {}).keys(), key


def texts_of(operation: Any, document: Any) -> list[str]:
    """The names of the text fields of a request body."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    properties = document["components"]["schemas"].get(reference, {}).get("properties", {})
    return [name for name, one in properties.items() if one.get("type") == "string"]
