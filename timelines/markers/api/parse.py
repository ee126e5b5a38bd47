"""Parses requests that move markers.

Rows have ids of posts in base36.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from infra.api.errors import InvalidRequest
from infra.api.parsing import read_count, read_flag
from posts.ids import MalformedPostId, PostId
from timelines.markers.types import MarkerMove, Timeline

MOST_VERSION = 2**31 - 1
# The app of notifications is on a higher floor, so this does not ask whether there is such a one.
NOTIFICATION_ID = re.compile(r"[0-9]{1,20}", re.ASCII)


def read_moves(data: Mapping[str, Any]) -> dict[Timeline, MarkerMove]:
    """The requested moves; ignores unknown names. Raises InvalidRequest."""
    sent = {timeline: _find_fields(data, timeline.name.lower()) for timeline in Timeline}
    return {timeline: _read_move(timeline, fields) for timeline, fields in sent.items() if fields}


def _find_fields(data: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    if name not in data:
        return None
    if not isinstance(data[name], Mapping) or "last_read_id" not in data[name]:
        raise InvalidRequest(f"{name} must be an object with last_read_id")
    return cast(Mapping[str, Any], data[name])


def _read_move(timeline: Timeline, fields: Mapping[str, Any]) -> MarkerMove:
    name = f"{timeline.name.lower()}[last_read_id]"
    last_read_id = _read_id(timeline, fields.get("last_read_id"), name)
    version = None
    if fields.get("version") is not None:
        version = read_count(fields, "version", MOST_VERSION)
    return MarkerMove(last_read_id, version, read_flag(fields, "forward_only"))


def _read_id(timeline: Timeline, value: object, name: str) -> str:
    text = str(value) if isinstance(value, str | int) else ""
    if timeline is Timeline.NOTIFICATIONS and NOTIFICATION_ID.fullmatch(text):
        return text
    if timeline is Timeline.HOME:
        with suppress(MalformedPostId):
            return PostId.from_cursor(text).base36
    raise InvalidRequest(f"{name} is not a valid id")
