"""Endpoint of catch-up: read it in pages, and say that it was read."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import orjson
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.parsing import read_flag, read_limit, read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.ids import FIRST, PostId
from timelines.catch_up.api import schema
from timelines.catch_up.order import split_groups
from timelines.catch_up.pages import CatchUpRequest, catch_up_page
from timelines.catch_up.types import Bound, CatchUp, CatchUpPage, Exclusions, MalformedBound
from timelines.cursors import decode_cursor
from timelines.markers.actions.move_markers import advance_home_marker
from timelines.markers.api.views import present_markers
from timelines.markers.types import Timeline
from timelines.types import Entry

DEFAULT_LIMIT, MOST = 20, 40
CURSORS = ("bound", "after_id")


class CatchUpView(Endpoint):
    """What arrived in my home timeline since my marker, by account, up to a fixed bound."""

    scopes = {"GET": "read:statuses", "POST": "write:statuses"}

    @extend_schema(parameters=schema.PARAMETERS, responses=schema.CatchUpEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        page = catch_up_page(read_request(request.account_id, request.query_params))
        link = _next_link(request, page)
        return json_response(present_page(page), headers={"Link": link} if link else None)

    @extend_schema(
        request={"application/json": schema.CatchUpEndBody}, responses=schema.CaughtUpEntity
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        """Moves the home marker to the bound, unless it is further already. Returns the marker."""
        bound, now = read_bound(request.data), datetime.now(UTC)
        until = bound.until.base36
        marker = advance_home_marker(request.account_id, until, bound.seen_ms, now)
        return present_markers({Timeline.HOME: marker})


def _next_link(request: ApiRequest, page: CatchUpPage) -> str | None:
    if page.after is None:
        return None
    sent = request.query_params.lists()
    query = [(name, v) for name, vs in sent if name not in CURSORS for v in vs]
    query += zip(CURSORS, (page.whole.bound.text, page.after.public), strict=True)
    return f'<{settings.PUBLIC_URL}{request.path}?{urlencode(query)}>; rel="next"'


def read_request(reader_id: int, query: Mapping[str, str]) -> CatchUpRequest:
    """Raises: InvalidRequest, InvalidCursor."""
    return CatchUpRequest(
        reader_id,
        read_limit(query.get("limit"), DEFAULT_LIMIT, MOST),
        Exclusions(read_flag(query, "exclude_replies"), read_flag(query, "exclude_reblogs")),
        read_bound(query) if query.get("bound") else None,
        _read_after(query),
    )


def read_bound(data: Mapping[str, Any]) -> Bound:
    """Raises: InvalidRequest."""
    try:
        return Bound.from_text(read_text(data, "bound"))
    except MalformedBound:
        raise InvalidRequest("bound is not the bound of a catch-up") from None


def _read_after(query: Mapping[str, str]) -> PostId | None:
    after = query.get("after_id")
    if after and not query.get("bound"):
        raise InvalidRequest("after_id needs the bound of its catch-up")
    return decode_cursor(after) if after else None


def present_page(page: CatchUpPage) -> bytes:
    """An object; see api/schema.py. Cost: one status of each group is parsed for its account."""
    whole, statuses = page.whole, page.statuses
    together, groups = split_parts(whole)
    head = {
        "bound": whole.bound.text,
        "since_id": None if whole.bound.since == FIRST else whole.bound.since.public,
        "statuses_count": len(whole.entries),
        "accounts_count": len(groups),
        "left_out": _present_left_out(whole),
    }
    on_top = [statuses[entry.event] for entry in together if entry.event in statuses]
    shown = [body for group in groups if (body := _present_group(group, page))]
    parts = orjson.dumps(head)[:-1], b",".join(on_top), b",".join(shown)
    return b'%b,"reblogged_together":[%b],"groups":[%b]}' % parts


def split_parts(whole: CatchUp) -> tuple[Sequence[Entry], Sequence[Sequence[Entry]]]:
    """The entries on top, and the groups."""
    count = whole.together_count
    return whole.entries[:count], split_groups(whole.entries[count:])


def _present_left_out(whole: CatchUp) -> dict[str, str] | None:
    """The cursors of the home pages with what had no room."""
    if whole.left_below is None:
        return None
    return {"max_id": whole.left_below.public, "min_id": whole.bound.since.public}


def _present_group(group: Sequence[Entry], page: CatchUpPage) -> bytes | None:
    """None if this page has no status of the group."""
    events = [entry.event for entry in group]
    shown = [page.statuses[event] for event in events if event in page.statuses]
    if not shown:
        return None
    account = orjson.dumps(orjson.loads(shown[0])["account"])
    is_continued = b"true" if page.before in events else b"false"
    values = account, len(group), is_continued, b",".join(shown)
    return b'{"account":%b,"statuses_count":%d,"is_continued":%b,"statuses":[%b]}' % values
