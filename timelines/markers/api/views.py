"""Read markers over HTTP: how far an account has read, shared by all its clients."""

from collections.abc import Mapping
from datetime import UTC, datetime

import orjson
import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.ids import PostId
from timelines.catch_up.count import UnreadCount, count_unread_entries
from timelines.markers.actions.move_markers import move_markers
from timelines.markers.api import schema
from timelines.markers.api.parse import read_moves
from timelines.markers.cache import load_markers
from timelines.markers.types import MarkerState, Timeline

log = structlog.get_logger()


class MarkersView(Endpoint):
    """How far I have read my home timeline and my notifications."""

    scopes = {"GET": "read:statuses", "POST": "write:statuses"}

    @extend_schema(parameters=[schema.WHICH], responses=schema.MarkersEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        query = request.query_params
        names = query.getlist("timeline[]") or query.getlist("timeline")
        wanted = [timeline for timeline in Timeline if timeline.name.lower() in names]
        marked = load_markers(request.account_id, wanted) if wanted else {}
        home = marked.get(Timeline.HOME)
        return present_markers(marked, home and _find_unread(request.account_id, home))

    @extend_schema(
        request={"application/json": schema.NewMarkersBody},
        responses={200: schema.MarkersEntity, 409: schema.CONFLICT},
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        """Moves the markers, all or none. Returns the markers that were sent."""
        moves = read_moves(request.data)
        moved = move_markers(request.account_id, moves, datetime.now(UTC)) if moves else {}
        return present_markers(moved)


def present_markers(
    marked: Mapping[Timeline, MarkerState], unread: UnreadCount | None = None
) -> HttpResponse:
    """The markers by name. `unread`: of home."""
    body = {
        timeline.name.lower(): _present(timeline, marker)
        for timeline, marker in sorted(marked.items())
    }
    if unread is not None:
        body["home"] |= {"unread_count": unread.total, "unread_is_more": unread.is_more}
    return json_response(orjson.dumps(body))


def _find_unread(account_id: int, marker: MarkerState) -> UnreadCount | None:
    """None if a shard does not answer: the marker itself is known."""
    try:
        return count_unread_entries(account_id, marker)
    except (OperationalError, InterfaceError) as error:
        log.warning("markers.unread_not_counted", error=str(error))
        return None


def _present(timeline: Timeline, marker: MarkerState) -> dict[str, object]:
    return {
        "last_read_id": _public_id(timeline, marker.last_read_id),
        "version": marker.version,
        "updated_at": marker.updated_at.strftime("%Y-%m-%dT%H:%M:%S.")
        + f"{marker.updated_at.microsecond // 1000:03d}Z",
    }


def _public_id(timeline: Timeline, text: str) -> str:
    """Home markers are ids of posts; those of notifications are stored as clients send them."""
    return PostId.from_base36(text).public if timeline is Timeline.HOME else text
