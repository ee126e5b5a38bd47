"""Cursors of timelines: status ids, as a client sends them."""

from infra.api.errors import InvalidCursor
from infra.api.pages import Window
from posts.ids import FIRST, LAST, MalformedPostId, PostId
from timelines.types import TimeRange


def decode_cursor(text: str) -> PostId:
    """The status id in a cursor. No such status needs to exist. Raises InvalidCursor."""
    try:
        return PostId.from_cursor(text)
    except MalformedPostId:
        raise InvalidCursor from None


def range_of(window: Window) -> TimeRange:
    """What is between the cursors of the window. Raises InvalidCursor."""
    lower = window.min_id or window.since_id
    above = decode_cursor(lower) if lower else FIRST
    return TimeRange(above, decode_cursor(window.max_id) if window.max_id else LAST)
