"""Every documented field of every entity is in the answers: typed clients fail at the first one."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, override_settings

from relations.actions.follow import follow
from tests.callers import Caller
from tests.contract.required_fields import REQUIRED, missing_fields
from tests.pictures import picture, upload
from tests.push_service import Device
from tests.sign_ups import FAST_HASHERS, App
from tests.world import drain_all, make_accounts

STATUSES, FILTERS = "/api/v1/statuses", "/api/v2/filters"
SCOPES = "read write follow push profile"


class Town:
    """Two accounts with everything that an answer can have."""

    def __init__(self) -> None:
        ids = me, you, friend = make_accounts(3)
        self.me, self.you, self.friend = (Caller(one, SCOPES) for one in ids)
        self.you_id, self.friend_id = str(you), str(friend)
        for pair in ((me, friend), (friend, you)):
            follow(*pair)
        field = [{"name": "a", "value": "b"}]
        for one in (self.me, self.you):
            one.client.patch(
                "/api/v1/accounts/update_credentials",
                {"fields_attributes": field},
                "application/json",
            )
        self.write()

    def write(self) -> None:
        name = self.me.get("/api/v1/accounts/verify_credentials").json()["username"]
        image = self.you.client.post("/api/v2/media", {"file": upload(picture())}).json()
        post = {"status": f"@{name} tea #tea", "media_ids": [image["id"]]}
        self.post = self.you.post(STATUSES, post).json()["id"]
        self.you.client.put(f"{STATUSES}/{self.post}", post | {"status": "new"}, "application/json")
        poll = {"options": ["a", "b"], "expires_in": 600}
        self.poll = self.you.post(STATUSES, {"status": "?", "poll": poll}).json()["id"]
        self.reply = self.me.post(STATUSES, {"status": "tea", "in_reply_to_id": self.post}).json()[
            "id"
        ]
        self.you.post(STATUSES, {"status": f"@{name} psst", "visibility": "direct"})
        drain_all()


def entities(town: Town, client: Client) -> Iterator[tuple[str, Any]]:
    """Entities and answers; each answer is one of them, or a list that is not empty."""
    me, post, you = town.me, town.post, town.you_id
    yield "Account", me.get(f"/api/v1/accounts/{you}")
    yield "CredentialAccount", me.get("/api/v1/accounts/verify_credentials")
    yield "Account", me.get("/api/v1/accounts/verify_credentials")
    yield "Application", me.get("/api/v1/apps/verify_credentials")
    made = client.post("/api/v1/apps", {"client_name": "a", "redirect_uris": "https://a.example"})
    yield "CredentialApplication", made
    yield "Application", made
    yield "Context", me.get(f"{STATUSES}/{post}/context")
    yield "Conversation", me.get("/api/v1/conversations")
    yield "ExtendedDescription", me.get("/api/v1/instance/extended_description")
    yield "FamiliarFollowers", me.get(f"/api/v1/accounts/familiar_followers?id[]={you}")
    yield "FeaturedTag", me.post("/api/v1/featured_tags", {"name": "tea"})
    yield "Instance", client.get("/api/v2/instance")
    yield "V1_Instance", client.get("/api/v1/instance")
    yield "List", me.post("/api/v1/lists", {"title": "a"})
    yield "Profile", me.get("/api/v1/profile")
    later = me.post(STATUSES, {"status": "later", "scheduled_at": "2036-01-01"})
    yield "ScheduledStatus", later
    yield "ScheduledStatus", me.get(f"/api/v1/scheduled_statuses/{later.json()['id']}")
    yield "MediaAttachment", me.client.post("/api/v2/media", {"file": upload(picture())})
    yield "Status", me.get(f"{STATUSES}/{post}")
    yield "Status", me.get(f"{STATUSES}/{town.poll}")
    yield "Status", me.post(f"{STATUSES}/{post}/reblog")
    yield "StatusEdit", me.get(f"{STATUSES}/{post}/history")
    yield "StatusSource", me.get(f"{STATUSES}/{town.reply}/source")
    yield "Poll", me.post(f"/api/v1/polls/{town.poll}/votes", {"choices": [0]})
    yield "Preferences", me.get("/api/v1/preferences")
    yield "Relationship", me.get(f"/api/v1/accounts/relationships?id[]={you}")
    yield "Report", me.post("/api/v1/reports", {"account_id": you})
    yield "Search", me.get("/api/v2/search?q=tea")
    yield "Suggestion", me.get("/api/v2/suggestions")
    yield "Tag", me.get("/api/v1/tags/tea")
    yield from _notifications(town)
    yield from _marks_and_filters(town)


def _notifications(town: Town) -> Iterator[tuple[str, Any]]:
    me = town.me
    target = {"endpoint": "https://push.example.org/box", "keys": Device().keys()}
    yield "WebPushSubscription", me.post("/api/v1/push/subscription", {"subscription": target})
    yield "Notification", me.get("/api/v1/notifications")
    yield "GroupedNotifications", me.get("/api/v2/notifications")
    me.client.patch("/api/v2/notifications/policy?for_not_following=filter")
    yield "NotificationPolicy", me.get("/api/v2/notifications/policy")
    yield "V1_NotificationPolicy", me.get("/api/v1/notifications/policy")
    yield "NotificationRequest", me.get("/api/v1/notifications/requests")


def _marks_and_filters(town: Town) -> Iterator[tuple[str, Any]]:
    me = town.me
    rule = {"title": "t", "context": ["home", "thread"]}
    made = me.post(FILTERS, rule | {"keywords_attributes": [{"keyword": "new"}]})
    yield "FilterStatus", me.post(f"{FILTERS}/{made.json()['id']}/statuses?status_id={town.post}")
    yield "Filter", me.get(FILTERS)
    yield "Status", me.get(f"{STATUSES}/{town.post}")
    yield "V1_Filter", me.get("/api/v1/filters")
    me.post("/api/v1/markers", {"home": {"last_read_id": town.post}})
    yield "Marker", me.get("/api/v1/markers?timeline[]=home").json()["home"]
    me.post(f"/api/v1/accounts/{town.you_id}/mute?duration=600")
    yield "MutedAccount", me.get("/api/v1/mutes")
    yield "Account", me.get("/api/v1/mutes")


@override_settings(PASSWORD_HASHERS=FAST_HASHERS)
def test_no_documented_field_is_missing(world: None, client: Client) -> None:
    seen, missing = (
        {"Token"},
        missing_fields(
            "Token", App.register(client).ask_token(grant_type="client_credentials").json()
        ),
    )
    for entity, answer in entities(Town(), client):
        body = answer if isinstance(answer, dict) else answer.json()
        assert body, entity
        seen.add(entity)
        missing |= missing_fields(entity, body)
    assert missing == set()
    inside = {"Role", "FilterKeyword", "FilterResult", "NotificationGroup"}
    assert seen | inside == REQUIRED.keys()


def test_the_check_finds_what_is_missing() -> None:
    poll = {"title": "a", "votes_count": None}
    assert "Poll: options[][title]" in missing_fields("Poll", {"options": [poll, {}]})
    assert "Poll: options[][votes_count]?" not in missing_fields("Poll", {"options": [poll]})
    assert "Status: account" in missing_fields("Status", {"account": None})


def test_streaming_has_an_address_and_another_process(client: Client, world: None) -> None:
    """Clients that find none do not start. If they cannot reach it they poll."""
    with override_settings(STREAMING_URL="wss://social.example:8443"):
        first, second = (client.get(f"/api/v{n}/instance").json() for n in (1, 2))
    assert first["urls"]["streaming_api"] == "wss://social.example:8443"
    assert second["configuration"]["urls"]["streaming"] == "wss://social.example:8443"
    assert second["registrations"]["url"] is None


@pytest.mark.parametrize("path", ["/api/v1/streaming", "/api/v1/streaming/user?access_token=a%2Fb"])
def test_streams_elsewhere_are_named(client: Client, path: str) -> None:
    """A server without a proxy sends the client on; WebSocket follows no redirect."""
    headers = {"Origin": "https://client.example"}
    with override_settings(
        STREAMING_URL="wss://social.example:8443", STREAMING_HTTP_URL="https://social.example:8443"
    ):
        sent_on = client.get(path, headers=headers)
        refused = client.get(path, headers={**headers, "Upgrade": "websocket"})
        assert client.post(path).status_code == 405
    assert (sent_on.status_code, sent_on["Location"]) == (307, f"https://social.example:8443{path}")
    assert refused.status_code == 421
    assert "wss://social.example:8443/api/v1/streaming" in refused.json()["error"]
    for answer in (sent_on, refused):
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("address", ["", "ws://testserver"])
def test_a_redirect_to_itself_is_a_404_that_says_what_lacks(client: Client, address: str) -> None:
    with override_settings(STREAMING_URL=address):
        answer = client.get("/api/v1/streaming/user")
    assert answer.status_code == 404
    assert "a proxy must give /api/v1/streaming" in answer.json()["error"]
