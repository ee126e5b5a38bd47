"""Read markers over HTTP: how far an account has read, shared by all its clients."""

from collections.abc import Mapping
from datetime import UTC, datetime

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.ids import PostId
from timelines.markers.api import schema
from timelines.markers.api.parse import read_moves
from timelines.markers.rows import move_markers, read_markers
from timelines.markers.types import MarkerState, Timeline


class MarkersView(Endpoint):
    """How far I have read my home timeline and my notifications."""

    scopes = {"GET": "read:statuses", "POST": "write:statuses"}

    @extend_schema(parameters=[schema.WHICH], responses=schema.MarkersEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        names = request.query_params.getlist("timeline[]")
        wanted = [timeline for timeline in Timeline if timeline.name.lower() in names]
        return _answer(read_markers(request.account_id, wanted) if wanted else {})

    @extend_schema(
        request={"application/json": schema.NewMarkersBody},
        responses={200: schema.MarkersEntity, 409: schema.CONFLICT},
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        """Moves the markers, all or none. Returns the markers that were sent."""
        moves = read_moves(request.data)
        return _answer(move_markers(request.account_id, moves, datetime.now(UTC)) if moves else {})


def _answer(marked: Mapping[Timeline, MarkerState]) -> HttpResponse:
    body = {
        timeline.name.lower(): {
            "last_read_id": _public_id(timeline, one.last_read_id),
            "version": one.version,
            "updated_at": one.updated_at.strftime("%Y-%m-%dT%H:%M:%S.")
            + f"{one.updated_at.microsecond // 1000:03d}Z",
        }
        for timeline, one in sorted(marked.items())
    }
    return json_response(orjson.dumps(body))


def _public_id(timeline: Timeline, text: str) -> str:
    """Home markers are ids of posts; notification ids are the clients' own texts."""
    return PostId.from_base36(text).public if timeline is Timeline.HOME else text
