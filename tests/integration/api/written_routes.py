"""Every route that takes parameters of a write, each with parameters that change its answer."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from moderation.types import DecisionKind
from tests.callers import Caller
from tests.people import decide
from tests.pictures import picture, upload
from tests.push_service import Device
from tests.site_rules import make_rule
from tests.world import drain_all, make_accounts


class Write(NamedTuple):
    """`template`: as in the OpenAPI document. `has_file`: an image comes with the parameters."""

    method: str
    template: str
    parameters: Mapping[str, Any]
    has_file: bool = False


class Scene:
    """One account with one thing of each kind; `names` has the values of placeholders."""

    def __init__(self, device: Device, unique: str) -> None:
        me, you, stranger, other = make_accounts(4)
        self.me = Caller(me, "read write follow push")
        self.names = {"account_id": str(you), "stranger": str(stranger), "other": str(other)}
        self.names |= {"unique": unique, **device.keys()}
        self._make_things(you)
        self._make_requests((stranger, other))
        strike = decide(me, DecisionKind.WARN)
        assert strike is not None
        self.names["strike_id"] = str(strike.pk)
        self.names["rule_id"] = str(make_rule("Be polite"))
        self.names["bound"] = self.me.get("/api/v1/timelines/home/catch_up").json()["bound"]

    def _make_things(self, you: int) -> None:
        made = self.names
        poll = {"options": ["a", "b", "c"], "expires_in": 600, "multiple": True}
        yours = Caller(you).post("/api/v1/statuses", {"status": "poll", "poll": poll}).json()
        made["poll_id"] = made["yours"] = yours["id"]
        made["status_id"] = self._made("/api/v1/statuses", {"status": "mine"})
        look = {"status": "look", "quoted_status_id": made["status_id"]}
        made["quoting_id"] = Caller(you).post("/api/v1/statuses", look).json()["id"]
        made["reply"] = self._made("/api/v1/statuses", {"status": "to delete"})
        later = {"status": "later", "scheduled_at": "2036-01-01"}
        made["scheduled_id"] = self.me.post("/api/v1/statuses", later).json()["id"]
        made["list_id"] = self._made("/api/v1/lists", {"title": "close"})
        words = {"title": "words", "context": ["home"]}
        made["filter_id"] = self._made("/api/v2/filters", words)
        words = {"phrase": "old", "context": ["home"]}
        made["keyword_id"] = self._made("/api/v1/filters", words)
        file = self.me.client.post("/api/v2/media", {"file": upload(picture())})
        made["media_id"] = file.json()["id"]

    def _make_requests(self, senders: tuple[int, ...]) -> None:
        self.me.client.patch(
            "/api/v2/notifications/policy", {"for_not_following": "filter"}, "application/json"
        )
        name = self.me.get("/api/v1/accounts/verify_credentials").json()["username"]
        for sender in senders:
            Caller(sender).post("/api/v1/statuses", {"status": f"@{name} hello"})
        message = {"status": f"@{name} psst", "visibility": "direct"}
        you = Caller(int(self.names["account_id"]))
        self.names["conversation_id"] = you.post("/api/v1/statuses", message).json()["id"]
        drain_all()

    def _made(self, path: str, body: Mapping[str, Any]) -> str:
        answer = self.me.post(path, body)
        assert answer.status_code == 200, answer.content
        return str(answer.json()["id"])

    def fill(self, value: Any) -> Any:
        """The value with this scene's ids in the places of their names."""
        if isinstance(value, str):
            return value.format(**self.names)
        if isinstance(value, Mapping):
            return {name: self.fill(inner) for name, inner in value.items()}
        return [self.fill(inner) for inner in value] if isinstance(value, list) else value


TARGET = {
    "endpoint": "https://push.example.org/box",
    "keys": {"p256dh": "{p256dh}", "auth": "{auth}"},
    "standard": True,
}
WISHES = {"alerts": {"mention": True, "favourite": False}, "policy": "followed"}
PROFILE = {
    "display_name": "Ann Other",
    "note": "new",
    "locked": False,
    "bot": True,
    "discoverable": False,
    "indexable": False,
    "hide_collections": True,
    "fields_attributes": {"0": {"name": "a", "value": "b"}, "1": {"name": "c", "value": "d"}},
    "source": {"privacy": "unlisted", "sensitive": True, "language": "de"},
}
SIGN_UP = {
    "username": "{unique}",
    "email": "{unique}@example.org",
    "password": "correct horse battery",
    "agreement": True,
    "locale": "de",
    "reason": "I like tea",
}
STATUS = {
    "status": "hello",
    "visibility": "private",
    "sensitive": True,
    "spoiler_text": "careful",
    "language": "fr",
    "in_reply_to_id": "{yours}",
    "quote_approval_policy": "nobody",
    "reply_approval_policy": "following",
    "type": "status",
    "custom": {"title": "Soup"},
}
POLL = {
    "options": ["one", "two", "", " "],
    "expires_in": 3600,
    "multiple": True,
    "hide_totals": True,
}
KEYWORDS = [{"keyword": "tea", "whole_word": True}, {"keyword": "milk", "whole_word": False}]
OLD_FILTER = {
    "phrase": "coffee",
    "context": ["home", "public"],
    "irreversible": True,
    "whole_word": False,
    "expires_in": 86400,
}
ACCOUNT, STATUSES, FILTERS = "/api/v1/accounts", "/api/v1/statuses", "/api/v2/filters"
OF_YOU = f"{ACCOUNT}/{{account_id}}"
REQUESTS = "/api/v1/notifications/requests"
REPORT = {
    "account_id": "{account_id}",
    "status_ids": ["{yours}"],
    "comment": "why",
    "category": "spam",
    "forward": False,
}
# Only applications of the operator may use these.
OF_SERVICES = "/api/v1/services/"
WRITES = (
    Write("POST", f"{OF_YOU}/follow", {"reblogs": False, "notify": True, "quiet": True}),
    Write("POST", f"{OF_YOU}/follow", {"languages": ["en"]}),
    Write("POST", f"{OF_YOU}/mute", {"notifications": False, "duration": 600}),
    Write("POST", f"{OF_YOU}/note", {"comment": "kind"}),
    Write("POST", f"{ACCOUNT}/followed_by", {"id": ["{account_id}", "{stranger}"]}),
    Write("POST", ACCOUNT, SIGN_UP),
    Write("PATCH", f"{ACCOUNT}/update_credentials", PROFILE),
    Write("PATCH", "/api/v1/profile", PROFILE),
    Write("POST", "/api/v1/apps", {"client_name": "A", "redirect_uris": ["https://a.example/b",
        "urn:ietf:wg:oauth:2.0:oob"], "scopes": "read", "website": "https://a.example"}),
    Write("POST", "/api/v1/featured_tags", {"name": "tea"}),
    Write("POST", "/api/v1/filters", OLD_FILTER),
    Write("PUT", "/api/v1/filters/{keyword_id}", OLD_FILTER),
    Write("POST", "/api/v1/lists", {"title": "far", "replies_policy": "none", "exclusive": True}),
    Write("PUT", "/api/v1/lists/{list_id}", {"replies_policy": "followed", "exclusive": True}),
    Write("POST", "/api/v1/lists/{list_id}/accounts", {"account_ids": ["{account_id}"]}),
    Write("DELETE", "/api/v1/lists/{list_id}/accounts", {"account_ids": ["{account_id}"]}),
    # Before a marker is set, because a bound may be older than the newest post.
    Write("POST", "/api/v1/conversations/{conversation_id}/read", {"up_to": "{conversation_id}"}),
    Write("POST", "/api/v1/timelines/home/catch_up", {"bound": "{bound}"}),
    Write("POST", "/api/v1/markers", {"home": {"last_read_id": "{yours}", "version": 7},
        "notifications": {"last_read_id": "12"}}),
    Write("POST", "/api/v1/media", {"description": "Sea", "focus": "0.5,-0.5"}, has_file=True),
    Write("POST", "/api/v2/media", {"description": "Sky", "focus": "0.5,0.5"}, has_file=True),
    Write("PUT", "/api/v1/media/{media_id}", {"description": "Sand", "focus": "1,1"}),
    Write("PATCH", "/api/v1/notifications/policy", {"filter_not_followers": True}),
    Write("PATCH", "/api/v2/notifications/policy", {"for_new_accounts": "drop"}),
    Write("POST", f"{REQUESTS}/accept", {"id": ["{stranger}"]}),
    Write("POST", f"{REQUESTS}/dismiss", {"id": ["{other}"]}),
    Write("POST", "/api/v1/polls/{poll_id}/votes", {"choices": ["0", "2"]}),
    Write("POST", "/api/v1/push/subscription", {"subscription": TARGET, "data": WISHES}),
    Write("PUT", "/api/v1/push/subscription", {"data": {"alerts": {"reblog": True}}}),
    Write("POST", "/api/v1/reports", REPORT),
    Write("POST", "/api/v1/reports", {"account_id": "{account_id}", "rule_ids": ["{rule_id}"]}),
    Write("POST", STATUSES, STATUS),
    Write("POST", STATUSES, {"status": "choose", "poll": POLL}),
    Write("POST", STATUSES, {"media_ids": ["{media_id}"]}),
    Write("POST", STATUSES, {"status": "later", "scheduled_at": "2036-01-01"}),
    Write("PUT", "/api/v1/followed_tags/settings", {"home": True}),
    Write("PUT", "/api/v1/scheduled_statuses/{scheduled_id}", {"scheduled_at": "2036-02-01"}),
    Write("PUT", f"{STATUSES}/{{status_id}}", {"status": "edited", "spoiler_text": "careful",
        "sensitive": True, "language": "de", "media_ids": []}),
    Write("PUT", f"{STATUSES}/{{status_id}}",
        {"status": "edited", "quote_approval_policy": "nobody",
        "reply_approval_policy": "nobody"}),
    Write("PUT", f"{STATUSES}/{{status_id}}/interaction_policy",
        {"quote_approval_policy": "followers", "reply_approval_policy": "mentioned"}),
    Write("POST", STATUSES, {"status": "look", "quoted_status_id": "{yours}"}),
    Write("POST", STATUSES, {"status": "mine", "quote_approval_policy": "followers",
        "reply_approval_policy": "followers"}),
    Write("POST", f"{STATUSES}/{{status_id}}/reblog", {"visibility": "unlisted"}),
    Write("DELETE", f"{STATUSES}/{{status_id}}", {"delete_media": True}),
    Write("POST", "/api/v1/strikes/{strike_id}/appeal", {"text": "it was not me"}),
    Write("POST", FILTERS, {"title": "drinks", "context": ["home", "thread"],
        "filter_action": "hide", "expires_in": 3600, "keywords_attributes": KEYWORDS}),
    Write("PUT", f"{FILTERS}/{{filter_id}}", {"title": "food", "context": ["public"],
        "filter_action": "blur", "keywords_attributes": KEYWORDS}),
    Write("POST", f"{FILTERS}/{{filter_id}}/keywords", {"keyword": "cake", "whole_word": True}),
    Write("PUT", f"{FILTERS}/keywords/{{keyword_id}}", {"keyword": "pie", "whole_word": True}),
    Write("POST", f"{FILTERS}/{{filter_id}}/statuses", {"status_id": "{yours}"}),
)  # fmt: skip
