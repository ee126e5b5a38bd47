"""What each page shows next to its content: who is signed in, and how much is unread.

It is asked along with the first question of a page: in the same pass of the API, which checks the
token and counts the request once, and in the same round trips.
"""

from typing import Any

import orjson
from django.http import HttpResponse
from redis.exceptions import RedisError

from accounts.api.present import present_credentials
from accounts.errors import AccountNotFound
from accounts.queries.load import ask_accounts
from accounts.queries.profiles import get_source
from infra.api.endpoint import Endpoint
from infra.api.errors import ScopeMissing, TidelineError
from infra.api.live_parts import fill_live_parts
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.caching.questions import Question, answer_of, ask_along
from infra.clock import now_ms
from infra.confirmations import confirm_now
from infra.sharding.errors import NO_ANSWER
from notifications.queries.groups import count_groups
from notifications.queries.pages import ask_unread_range
from notifications.queries.rows import IdRange
from notifications.types import ALL_KINDS, GROUPED_KINDS, Selection
from posts.conversations.cache import ask_unread
from posts.conversations.queries.conversations import count_visible
from posts.ids import PostId

# The numbers of what is unread are counted no further: a look at more costs more.
MOST_UNREAD = 20
PROFILE, UNREAD_SCOPES = "profile", {"read:notifications", "read:statuses"}


class Frame:
    """`viewer`: the CredentialAccount of the person who is signed in; None before it is known.

    `unread`: `count` of the groups of notifications, and `conversations`; each at most MOST_UNREAD.
    It is empty if a database or Redis does not answer, or if the token may not read them: a page is
    worth more than these numbers. None before it is known.
    """

    def __init__(self, has_unread: bool) -> None:
        self.has_unread = has_unread
        self.viewer: dict[str, Any] | None = None
        self.unread: dict[str, int] | None = None


class FrameQuestions:
    """Of one frame, for one request. Cost: no round trip of its own for what Redis has, but one for
    the notifications above the marker, and a query for the viewer's own choices."""

    def __init__(self, request: ApiRequest, has_unread: bool) -> None:
        """Raises: UserRequired, ScopeMissing."""
        self._viewer_id = request.account_id
        if PROFILE not in request.user.scopes:
            raise ScopeMissing(PROFILE)
        self._account = ask_along(ask_accounts([self._viewer_id], own_id=self._viewer_id))
        self._unread: tuple[Question[IdRange], Question[list[PostId]]] | None = None
        if has_unread and request.user.scopes >= UNREAD_SCOPES:
            unread = ask_unread_range(self._viewer_id), ask_unread(self._viewer_id)
            self._unread = ask_along(unread[0]), ask_along(unread[1])

    def fill(self, frame: Frame) -> None:
        """Raises: AccountNotFound."""
        confirm_now()
        frame.viewer = self._load_viewer()
        if frame.has_unread:
            frame.unread = self._count_unread()

    def _load_viewer(self) -> dict[str, Any]:
        account = answer_of(self._account).get(self._viewer_id)
        if account is None:
            raise AccountNotFound
        answer = json_response(present_credentials(account, get_source(self._viewer_id)))
        fill_live_parts(answer, self._viewer_id)
        viewer: dict[str, Any] = orjson.loads(answer.content)
        return viewer

    def _count_unread(self) -> dict[str, int]:
        if self._unread is None:
            return {}
        ids, conversations = self._unread
        owner_id, at_ms, limit = self._viewer_id, now_ms(), MOST_UNREAD
        try:
            selection = Selection(ALL_KINDS)
            count = count_groups(owner_id, selection, GROUPED_KINDS, answer_of(ids), limit, at_ms)
            talks = answer_of(conversations)
            talks_count = count_visible(owner_id, talks, limit, at_ms)
        except (*NO_ANSWER, RedisError, TidelineError):
            return {}
        return {"count": count, "conversations": talks_count}


class WithFrame(Endpoint):
    """Answers by another endpoint's GET, and fills the frame."""

    public = True

    def get(
        self, request: ApiRequest, frame: Frame, endpoint: Endpoint | None, **arguments: Any
    ) -> HttpResponse:
        """`endpoint`: None if only the frame is asked. Raises: as the endpoint's GET."""
        asked = FrameQuestions(request, frame.has_unread)
        answer = endpoint.get_for(request, **arguments) if endpoint else json_response(b"null")
        asked.fill(frame)
        return answer


with_frame = WithFrame()
