"""Who may do what: each route, each method, each role, against the table in role_matrix.txt.

The last column is the scope that a token must have.

A route that is not in the table fails the test, and so does a placeholder or a request body that
is not known here. The observed table is written to .artifacts/role_matrix.txt: check each change
of it, then copy it.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.http import HttpResponse
from django.urls import get_resolver
from pytest_django import Settings

from accounts.models import User
from lab.runner.child import CHECKOUT
from tests.contract.roles import ROLES, Scene
from tests.reads import _routes
from tests.sign_ups import FAST_HASHERS, PASSWORD
from timelines.catch_up.types import Bound

TABLE = Path(__file__).with_name("role_matrix.txt")
OBSERVED = CHECKOUT / ".artifacts" / "role_matrix.txt"
# Statuses from here on say that nothing was done.
REFUSED = "400"
PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")
# Django's patterns with regular expressions: the list of an app, and all other paths.
SPECIAL = {
    "admin/^(?P<app_label>auth|accounts|axes|site_texts|promotions|moderation|jobs)/$": (
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
    "object_id": lambda scene: 10**12,  # of no row: a page that is allowed redirects then
}
QUERIES = {
    "api/v1/accounts/lookup": "?acct=nothing",
    ".well-known/webfinger": "?resource=acct:nothing@localhost:8000",
    "api/v1/accounts/search": "?q=person",
    "api/v2/search": "?q=person",
}
NONE: dict[str, Any] = {}
# RFC 8291's example of a receiver's public key.
PUSH_KEY = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
BODIES: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "POST api/v1/statuses": lambda scene: {"status": "hi", "in_reply_to_id": scene.post.public},
    "PUT api/v1/statuses/<post:status_id>": lambda scene: {"status": "hello again"},
    "PUT api/v1/statuses/<post:status_id>/interaction_policy": lambda scene: {
        "quote_approval_policy": "followers"
    },
    "POST api/v1/statuses/<post:status_id>/quotes/<post:quoting_id>/revoke": lambda scene: NONE,
    # Forms only, so JSON is refused when all else is right.
    "POST api/v1/media": lambda scene: NONE,
    "POST api/v2/media": lambda scene: NONE,
    "PUT api/v1/media/<str:media_id>": lambda scene: {"description": "x"},
    "DELETE api/v1/media/<str:media_id>": lambda scene: NONE,
    "DELETE api/v1/profile/avatar": lambda scene: NONE,
    "DELETE api/v1/profile/header": lambda scene: NONE,
    "POST api/v1/markers": lambda scene: {"home": {"last_read_id": scene.post.public}},
    "POST api/v1/timelines/home/catch_up": lambda s: {"bound": Bound(s.post, s.post, 0, 0).text},
    "POST api/v1/services/relations": lambda scene: {
        "pairs": [{"account_id": str(scene.owner), "target_id": str(scene.asker)}]
    },
    "PUT api/v1/services/accounts": lambda scene: {
        "accounts": [{"external_id": f"v{scene.owner}", "username": f"v{scene.owner}"}]
    },
    "DELETE api/v1/services/accounts/<str:external_id>": lambda scene: NONE,
    "PUT api/v1/services/accounts/<str:external_id>": lambda scene: {"username": f"u{scene.owner}"},
    "POST api/v1/services/external_ids": lambda scene: {"account_ids": [str(scene.owner)]},
    "POST api/v1/accounts/followed_by": lambda scene: {"id": [str(scene.owner)]},
    "POST api/v1/lists": lambda scene: {"title": "new"},
    "PUT api/v1/lists/<str:list_id>": lambda scene: {"title": "renamed"},
    "PUT api/v1/scheduled_statuses/<str:scheduled_id>": lambda scene: {
        "scheduled_at": "2036-02-01"
    },
    "DELETE api/v1/scheduled_statuses/<str:scheduled_id>": lambda scene: NONE,
    "POST api/v1/lists/<str:list_id>/accounts": lambda s: {"account_ids": [str(s.friend)]},
    "DELETE api/v1/lists/<str:list_id>/accounts": lambda s: {"account_ids": [str(s.friend)]},
    "POST api/v1/filters": lambda scene: {"phrase": "x", "context": ["home"]},
    "PUT api/v1/filters/<str:keyword_id>": lambda scene: {"phrase": "y"},
    "DELETE api/v1/filters/<str:keyword_id>": lambda scene: NONE,
    "POST api/v2/filters": lambda scene: {"title": "x", "context": ["home"]},
    "PUT api/v2/filters/<str:filter_id>": lambda scene: {"title": "y"},
    "DELETE api/v2/filters/<str:filter_id>": lambda scene: NONE,
    "POST api/v2/filters/<str:filter_id>/keywords": lambda scene: {"keyword": "x"},
    "PUT api/v2/filters/keywords/<str:keyword_id>": lambda scene: {"keyword": "y"},
    "DELETE api/v2/filters/keywords/<str:keyword_id>": lambda scene: NONE,
    "POST api/v2/filters/<str:filter_id>/statuses": lambda s: {"status_id": s.post.public},
    "DELETE api/v2/filters/statuses/<str:rule_id>": lambda scene: NONE,
    "PATCH api/v1/accounts/update_credentials": lambda scene: {"note": "hello"},
    "PATCH api/v1/profile": lambda scene: {"note": "hello"},
    "POST api/v1/accounts": lambda scene: {
        "username": f"new{scene.owner}",
        "email": f"new{scene.owner}@example.org",
        "password": PASSWORD,
        "agreement": True,
    },
    "POST api/v1/apps": lambda scene: {"client_name": "x", "redirect_uris": "https://x.example"},
    "POST api/v1/reports": lambda scene: {
        "account_id": str(scene.owner),
        "status_ids": [scene.post.public],
    },
    "POST api/v1/promotions/<int:campaign_id>/hide": lambda scene: NONE,
    "PUT api/v1/followed_tags/settings": lambda scene: {"home": True},
    "POST api/v1/tags/<tag:name>/follow": lambda scene: NONE,
    "POST api/v1/tags/<tag:name>/unfollow": lambda scene: NONE,
    "POST api/v1/tags/<tag:name>/feature": lambda scene: NONE,
    "POST api/v1/tags/<tag:name>/unfeature": lambda scene: NONE,
    "DELETE api/v1/suggestions/<account:account_id>": lambda scene: NONE,
    "DELETE api/v1/conversations/<post:conversation_id>": lambda scene: NONE,
    "POST api/v1/conversations/<post:conversation_id>/read": lambda scene: NONE,
    "POST api/v1/conversations/<post:conversation_id>/unread": lambda scene: NONE,
    "POST api/v1/emails/confirmations": lambda scene: NONE,
    "POST api/v1/statuses/<post:status_id>/translate": lambda scene: NONE,
    "POST api/v1/polls/<post:poll_id>/votes": lambda scene: {"choices": [0]},
    "POST api/v1/featured_tags": lambda scene: {"name": "tea"},
    "DELETE api/v1/featured_tags/<int:tag_id>": lambda scene: NONE,
    "POST api/v1/domain_blocks": lambda scene: {"domain": "example.org"},
    "DELETE api/v1/domain_blocks": lambda scene: {"domain": "example.org"},
    "POST oauth/userinfo": lambda scene: NONE,
    "POST api/v1/strikes/<int:strike_id>/appeal": lambda scene: {"text": "I object"},
    "POST api/v1/notifications/clear": lambda scene: NONE,
    "PATCH api/v1/notifications/policy": lambda scene: {"filter_not_following": True},
    "PATCH api/v2/notifications/policy": lambda scene: {"for_not_following": "drop"},
    "PUT api/v1/notifications/policy": lambda scene: {"filter_not_following": True},
    "PUT api/v2/notifications/policy": lambda scene: {"for_not_following": "drop"},
    "POST api/v1/notifications/requests/<account:account_id>/accept": lambda scene: NONE,
    "POST api/v1/notifications/requests/<account:account_id>/dismiss": lambda scene: NONE,
    "POST api/v1/notifications/requests/accept": lambda scene: {"id": [str(scene.owner)]},
    "POST api/v1/notifications/requests/dismiss": lambda scene: {"id": [str(scene.owner)]},
    "POST api/v1/notifications/<int:notification_id>/dismiss": lambda scene: NONE,
    "POST api/v2/notifications/<str:group_key>/dismiss": lambda scene: NONE,
    "POST api/v1/push/subscription": lambda scene: {
        "subscription": {
            "endpoint": "https://push.example/x",
            "keys": {"p256dh": PUSH_KEY, "auth": "AAAAAAAAAAAAAAAAAAAAAA"},
        }
    },
    "PUT api/v1/push/subscription": lambda scene: {"data": {"alerts": {"follow": True}}},
    "DELETE api/v1/push/subscription": lambda scene: NONE,
    "POST oauth/token": lambda scene: NONE,
    "POST oauth/revoke": lambda scene: NONE,
}
ONE_OF_ITS_OWN = re.compile(
    r"(POST|DELETE) api/v1/(accounts|follow_requests|statuses|lists)/<\w+:\w+>(/\w+)?"
)
# What the owner has is gone then, or the two are other than the role says.
SPOILS = re.compile("DELETE|POST api/v1/(accounts/<|follow_requests/)")
PAGE_ROLES = ("anonymous", "other", "suspended", "moderator", "operator", "admin")
API_ROLES = tuple(role for role in ROLES if role != "operator")


@pytest.fixture(autouse=True)
def fast_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = FAST_HASHERS


@pytest.mark.slow
def test_every_role_may_do_what_the_table_says(world: None) -> None:
    observed = "\n".join([*api_table(), "", *page_table(), ""])
    if TABLE.exists() and observed == TABLE.read_text():
        return
    OBSERVED.parent.mkdir(exist_ok=True)
    OBSERVED.write_text(observed)
    assert observed.splitlines() == TABLE.read_text().splitlines()


def api_table() -> list[str]:
    """By a token. After a write that was accepted and SPOILS it the role gets a new scene."""
    scenes = {role: Scene(role) for role in API_ROLES}
    rows = [_line("API", [*API_ROLES, "scope"])]
    for route, method, scope in sorted(_api_operations()):
        statuses = [_ask(scenes[role], role, method, route) for role in API_ROLES]
        rows.append(_line(f"{method} {route}", [*statuses, scope]))
        if SPOILS.match(f"{method} {route}"):
            accepted = [r for r, s in zip(API_ROLES, statuses, strict=True) if s < REFUSED]
            scenes |= {role: Scene(role) for role in accepted}
    return rows


def page_table() -> list[str]:
    """By a session, GET only: forms are tested where they are."""
    browsers = {role: (scene := Scene(role), scene.browser(role)) for role in PAGE_ROLES}
    rows = [_line("pages", PAGE_ROLES)]
    for route in sorted(_page_routes()):
        statuses = []
        for role in PAGE_ROLES:
            scene, browser = browsers[role]
            statuses.append(_shown(browser.get(f"/{_path(route, scene)}")))
        rows.append(_line(f"GET {route or '/'}", statuses))
    return rows


def _api_operations() -> Iterator[tuple[str, str, str]]:
    for route, view in _routes(get_resolver().url_patterns, ""):
        for method, access in getattr(view, "_accesses", {}).items():
            if method != "HEAD":
                yield route, method, access.scope or "-"


def _page_routes() -> Iterator[str]:
    for route, view in _routes(get_resolver().url_patterns, ""):
        if not getattr(view, "_accesses", {}):
            yield route


def _ask(scene: Scene, role: str, method: str, route: str) -> str:
    path = f"/{_path(route, scene)}{QUERIES.get(route, '')}"
    client = scene.client(role)
    if method == "GET":
        return _shown(client.get(path))
    name = f"{method} {route}"
    has_none = name not in BODIES and ONE_OF_ITS_OWN.fullmatch(name)
    body = NONE if has_none else BODIES.get(name, _unknown_body(name))(scene)
    return _shown(client.generic(method, path, orjson.dumps(body), "application/json"))


def _unknown_body(name: str) -> Callable[[Scene], dict[str, Any]]:
    def fail(scene: Scene) -> dict[str, Any]:
        raise AssertionError(f"{name} is new: give it a request in BODIES, and a row in the table")

    return fail


def _path(route: str, scene: Scene) -> str:
    route = SPECIAL.get(route, route)
    return PLACEHOLDER.sub(lambda match: str(FILLINGS[match[1]](scene)), route)


def _shown(answer: HttpResponse) -> str:
    """The status; for a redirect to a page for signing in that instead."""
    location = answer.headers.get("Location", "")
    return "sign-in" if "/login/" in location or "/sign_in" in location else str(answer.status_code)


def _line(name: str, cells: Any) -> str:
    return " ".join([f"{name:<74}", *(f"{cell:<9}" for cell in cells)]).rstrip()
