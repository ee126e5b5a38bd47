"""Parses requests of catch-up."""

from collections.abc import Mapping
from typing import Any

from infra.api.errors import InvalidRequest
from infra.api.parsing import read_flag, read_limit, read_text
from posts.ids import PostId
from timelines.catch_up.pages import CatchUpRequest
from timelines.catch_up.types import Bound, Exclusions, MalformedBound
from timelines.cursors import decode_cursor

DEFAULT_LIMIT, MOST = 20, 40


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
