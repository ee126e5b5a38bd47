"""Answers in place of a Tideline, for what a real one cannot be made to do in a test.

A test with a real Tideline is in Tideline's own tests.
"""

import json
from collections.abc import Callable
from typing import Any

import httpx

from tideline_client import AsyncTideline, Tideline

URL = "https://feed.example.org"
Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class SiteDouble:
    """Gives the answers in their order, the last one again and again. `asked`: the requests."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = [*answers]
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    def client(self, **options: Any) -> Tideline:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return Tideline(URL, "token", http=http, **options)

    def async_client(self, **options: Any) -> AsyncTideline:
        async def answer(request: httpx.Request) -> httpx.Response:
            return self(request)

        http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        return AsyncTideline(URL, "token", http=http, **options)

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.asked]


def ok(value: Any, **headers: str) -> httpx.Response:
    return httpx.Response(200, json=value, headers=headers)


def refused(status: int, text: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": text}, headers=headers)


ACCOUNT: dict[str, Any] = {
    "id": "42", "username": "ann", "acct": "ann", "display_name": "Ann", "locked": False,
    "bot": False, "discoverable": True, "indexable": True, "group": False,
    "created_at": "2026-11-01T00:00:00.000Z", "note": "", "url": f"{URL}/@ann",
    "uri": f"{URL}/@ann", "avatar": f"{URL}/a.svg", "avatar_static": f"{URL}/a.svg",
    "header": f"{URL}/h.svg", "header_static": f"{URL}/h.svg", "hide_collections": False,
    "noindex": False, "emojis": [], "roles": [], "fields": [], "followers_count": 1,
    "following_count": 2, "statuses_count": 3, "last_status_at": "2026-11-27",
}  # fmt: skip
STATUS: dict[str, Any] = {
    "id": "1861168195865963607984", "created_at": "2026-11-27T18:00:00.123Z",
    "conversation_id": "1", "in_reply_to_id": None, "in_reply_to_account_id": None,
    "sensitive": False, "spoiler_text": "", "visibility": "public", "language": "en",
    "uri": f"{URL}/@ann/1", "url": f"{URL}/@ann/1", "content": "<p>Hello</p>", "reblog": None,
    "application": None, "media_attachments": [], "mentions": [], "tags": [], "emojis": [],
    "card": None, "poll": None, "edited_at": None, "filtered": [], "account": ACCOUNT,
    "quote": None, "quotes_count": 0,
    "quote_approval": {"automatic": ["public"], "manual": [], "current_user": "automatic"},
    "reply_approval": {"automatic": ["public"], "manual": [], "current_user": "automatic"},
    "replies_count": 0, "reblogs_count": 0, "favourites_count": 0, "favourited": False,
    "reblogged": False, "muted": False, "bookmarked": False, "pinned": False,
}  # fmt: skip
RELATIONSHIP: dict[str, Any] = {
    "id": "9", "following": True, "showing_reblogs": True, "notifying": False, "languages": None,
    "followed_by": False, "blocking": False, "blocked_by": False, "muting": False,
    "muting_notifications": False, "muting_expires_at": None, "requested": False,
    "domain_blocking": False, "requested_by": False, "endorsed": False, "note": "",
    "quiet_following": False, "special": False, "mutual": False,
}  # fmt: skip
BOUND: dict[str, Any] = {
    "external_id": "1", "account_id": "42", "username": "ann", "suspended": False,
}  # fmt: skip


def status_of(number: int, **changes: Any) -> dict[str, Any]:
    return STATUS | {"id": str(number)} | changes
