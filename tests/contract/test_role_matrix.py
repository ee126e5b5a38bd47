"""Who may do what: each route, each method, each role, against the table in role_matrix.txt.

The last column is the scope that a token must have.

A route that is not in the table fails the test with the row that was observed: check it, and write
it into the table, in any place. So does a placeholder that is not known here, and a write without a
request among WRITES (tests/integration/api/written_routes.py).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest
from django.http import HttpResponse
from pytest_django import Settings

from accounts.models import User
from lab.accept.routes import EndpointMethod, SiteRoute, iter_operations, iter_other_paths
from lab.accept.undecided import ROLES as TABLE
from tests.contract.roles import ROLES, Scene
from tests.integration.api.written_routes import WRITES, Write
from tests.sign_ups import FAST_HASHERS
from timelines.catch_up.types import Bound

# Statuses from here on say that nothing was done.
REFUSED = "400"
PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")
# Django's patterns with regular expressions: the list of an app, and all other paths.
SPECIAL = {
    "admin/^(?P<app_label>auth|accounts|axes|site_texts|promotions|moderation|jobs|tenants)/$": (
        "admin/moderation/"
    ),
    "admin/(?P<url>.*)$": "admin/nothing",
    "avatars/<int:colour>/<str:letter>.svg": "avatars/0/A.svg",
}
FILLINGS: dict[str, Callable[[Scene], object]] = {
    "account_id": lambda scene: scene.owner,
    "external_id": lambda scene: f"u{scene.owner}",
    "first": lambda scene: scene.owner,
    "second": lambda scene: scene.friend,
    "status_id": lambda scene: scene.post.public,
    "conversation_id": lambda scene: scene.post.public,
    "quoting_id": lambda scene: scene.quoting.public,
    "public_id": lambda scene: scene.post.public,
    "list_id": lambda scene: scene.list_id,
    "scheduled_id": lambda scene: scene.scheduled_id,
    "strike_id": lambda scene: scene.strike_id,
    "filter_id": lambda scene: 1,  # no account has these
    "keyword_id": lambda scene: 1,
    "rule_id": lambda scene: 1,
    "campaign_id": lambda scene: 1,
    "notification_id": lambda scene: 11,  # of no row
    "group_key": lambda scene: "follow-1",  # of no row
    "media_id": lambda scene: 1,  # no image: only the owner finds one
    "name": lambda scene: "nothing",
    "type_name": lambda scene: "recipe.cooked",
    "reaction": lambda scene: "favourite",
    "reaction_name": lambda scene: "clap",
    "kind": lambda scene: "recipe",
    "number": lambda scene: 1,
    "username": lambda scene: User.objects.get(pk=scene.owner).username,
    "act": lambda scene: "favourite",  # by POST only
    "form": lambda scene: "note",
    "user_id": lambda scene: scene.owner,
    "token": lambda scene: "nothing",
    "address": lambda scene: "nothing",
    "poll_id": lambda scene: scene.post.public,
    "tag_id": lambda scene: 1,
    "id": lambda scene: scene.owner,
    "joint_id": lambda scene: 10**12,  # of no row
    "decision_id": lambda scene: 10**12,
    "report_id": lambda scene: 10**12,
    "object_id": lambda scene: 10**12,  # of no row: a page that is allowed redirects then
}
QUERIES = {
    "api/v1/accounts/lookup": "?acct=nothing",
    ".well-known/webfinger": "?resource=acct:nothing@localhost:8000",
    "api/v1/accounts/search": "?q=person",
    "api/v2/search": "?q=person",
}
NONE: dict[str, Any] = {}
# What the names in WRITES are in a scene; others are placeholders of paths.
NAMES: dict[str, Callable[[Scene], object]] = {
    **dict.fromkeys(("stranger", "other"), lambda scene: scene.owner),
    "yours": lambda scene: scene.post.public,
    "unique": lambda scene: f"new{scene.owner}",
    # RFC 8291's example of a receiver's key.
    "p256dh": lambda scene: PUSH_KEY,
    "auth": lambda scene: "AAAAAAAAAAAAAAAAAAAAAA",
    "bound": lambda scene: Bound(scene.post, scene.post, 0, 0).text,
}
PUSH_KEY = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
# Of services, which WRITES has none of; and what depends on who asks.
BODIES: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "POST /api/v1/services/relations": lambda scene: {
        "pairs": [{"account_id": str(scene.owner), "target_id": str(scene.asker)}]
    },
    "PUT /api/v1/services/accounts": lambda scene: {
        "accounts": [{"external_id": f"v{scene.owner}", "username": f"v{scene.owner}"}]
    },
    "PUT /api/v1/services/accounts/{external_id}": lambda scene: {"username": f"u{scene.owner}"},
    "POST /api/v1/services/external_ids": lambda scene: {"account_ids": [str(scene.owner)]},
    "PUT /api/v1/services/post_types/{type_name}": lambda scene: {"words": {"en": "cooked"}},
    "PUT /api/v1/services/object_kinds/{kind}": lambda scene: {"words": {"en": "recipe"}},
    "PUT /api/v1/services/objects": lambda scene: {
        "objects": [{"kind": "recipe", "external_id": f"v{scene.owner}", "title": "Soup"}]
    },
    "PUT /api/v1/services/objects/{kind}/{external_id}": lambda scene: {"title": "Soup"},
    "PUT /api/v1/services/reactions/{reaction_name}": lambda scene: {"words": {"en": "claps"}},
    "POST /api/v1/lists/{list_id}/accounts": lambda s: {"account_ids": [str(s.friend)]},
    "DELETE /api/v1/lists/{list_id}/accounts": lambda s: {"account_ids": [str(s.friend)]},
}
# What the owner has is gone then, or the two are other than the role says.
SPOILS = re.compile("DELETE|POST api/v1/(accounts/<|follow_requests/)")
PAGE_ROLES = ("anonymous", "other", "suspended", "moderator", "operator", "admin")
API_ROLES = tuple(role for role in ROLES if role != "operator")


@pytest.fixture(autouse=True)
def fast_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = FAST_HASHERS


@pytest.mark.slow
def test_every_role_may_do_what_the_table_says(world: None) -> None:
    """Rows may be in any order, so that two branches can add one each."""
    observed, decided = {*api_table(), *page_table()}, {*TABLE.read_text().splitlines()} - {""}
    if observed != decided:
        seen, said = ("\n".join(sorted(rows)) for rows in (observed - decided, decided - observed))
        pytest.fail(f"observed:\n{seen}\nin the table:\n{said}", pytrace=False)


def api_table() -> list[str]:
    """By a token. After a write that was accepted and SPOILS it the role gets a new scene."""
    scenes = {role: Scene(role) for role in API_ROLES}
    rows = [_line("API", [*API_ROLES, "scope"])]
    for operation in sorted(iter_operations()):
        name = f"{operation.method} {operation.path}"
        statuses = [_ask(scenes[role], role, operation) for role in API_ROLES]
        rows.append(_line(name, [*statuses, operation.scope]))
        if SPOILS.match(name):
            accepted = [r for r, s in zip(API_ROLES, statuses, strict=True) if s < REFUSED]
            scenes |= {role: Scene(role) for role in accepted}
    return rows


def page_table() -> list[str]:
    """By a session, GET only: forms are tested where they are."""
    browsers = {role: (scene := Scene(role), scene.browser(role)) for role in PAGE_ROLES}
    rows = [_line("pages", PAGE_ROLES)]
    for route in sorted(iter_other_paths()):
        statuses = []
        for role in PAGE_ROLES:
            scene, browser = browsers[role]
            statuses.append(_shown(browser.get(f"/{_path(route, scene)}")))
        rows.append(_line(f"GET {route or '/'}", statuses))
    return rows


def _ask(scene: Scene, role: str, operation: EndpointMethod) -> str:
    route, method, _ = operation
    path = f"/{_path(route, scene)}{QUERIES.get(route, '')}"
    client = scene.client(role)
    if method == "GET":
        return _shown(client.get(path))
    body = orjson.dumps(body_of(method, SiteRoute(route, None).template, scene))
    return _shown(client.generic(method, path, body, "application/json"))


def body_of(method: str, template: str, scene: Scene) -> dict[str, Any]:
    """What is accepted when all else is right. Files come in forms only: their JSON is refused."""
    if decided := BODIES.get(f"{method} {template}"):
        return decided(scene)
    requests = [w for w in WRITES if (w.method, w.template) == (method, template)]
    return dict(_filled(requests[0].parameters, scene)) if _is_json(requests) else NONE


def _is_json(requests: list[Write]) -> bool:
    return bool(requests) and not requests[0].has_file


def _filled(value: Any, scene: Scene) -> Any:
    """The value with ids of the scene in the places of their names."""
    if isinstance(value, str):
        return value.format_map(_Names(scene))
    if isinstance(value, Mapping):
        return {name: _filled(inner, scene) for name, inner in value.items()}
    return [_filled(inner, scene) for inner in value] if isinstance(value, list) else value


class _Names(dict[str, str]):
    """What a name in WRITES is in a scene."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __missing__(self, name: str) -> str:
        return str((FILLINGS | NAMES)[name](self._scene))


def _path(route: str, scene: Scene) -> str:
    route = SPECIAL.get(route, route)
    return PLACEHOLDER.sub(lambda match: str(FILLINGS[match[1]](scene)), route)


def _shown(answer: HttpResponse) -> str:
    """The status; for a redirect to a page for signing in that instead."""
    location = answer.headers.get("Location", "")
    return "sign-in" if "/login/" in location or "/sign_in" in location else str(answer.status_code)


def _line(name: str, cells: Any) -> str:
    return " ".join([f"{name:<74}", *(f"{cell:<9}" for cell in cells)]).rstrip()
