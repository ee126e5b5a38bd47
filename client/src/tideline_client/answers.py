"""Reads an answer of HTTP: the value that was asked for, or the error that it is."""

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import msgspec

from tideline_client.calls import Call
from tideline_client.errors import (
    DeadlineExceeded,
    InvalidRequest,
    NotAllowed,
    NotFound,
    PositionGone,
    QuotaUsedUp,
    Refused,
    TidelineError,
    TokenRefused,
    Unavailable,
    UnexpectedAnswer,
)

T = TypeVar("T")
# Also if a proxy says more: it may be back before.
LONGEST_WAIT_S = 3600.0
REFUSALS: Mapping[int, type[Refused]] = {
    400: InvalidRequest,
    401: TokenRefused,
    403: NotAllowed,
    404: NotFound,
    410: PositionGone,
    413: InvalidRequest,
    415: InvalidRequest,
    422: InvalidRequest,
}
POSTPONED = {429: QuotaUsedUp, 502: Unavailable, 503: Unavailable}


class ErrorBody(msgspec.Struct):
    """What every error of Tideline has."""

    error: str
    details: dict[str, Any] = {}


def read_answer(
    call: Call[T], status: int, headers: Mapping[str, str], content: bytes, request_id: str
) -> T:
    """Raises: TidelineError."""
    if 200 <= status < 300:
        return _read_value(call, content, request_id)
    raise _error_of(call, status, headers, content, request_id)


def _read_value(call: Call[T], content: bytes, request_id: str) -> T:
    if call.answer is type(None):
        return None
    try:
        return msgspec.json.decode(content, type=call.answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        text = f"{call.method} {call.path}: the answer is not what was expected: {error}"
        raise UnexpectedAnswer(text, request_id) from error


def _error_of(
    call: Call[Any], status: int, headers: Mapping[str, str], content: bytes, request_id: str
) -> TidelineError:
    body = _read_error(content)
    text = body.error if body else f"{call.method} {call.path} was answered with {status}"
    details = body.details if body else {}
    if status == 504:
        return DeadlineExceeded(text, request_id)
    if status in POSTPONED:
        wait_s = _read_seconds(headers.get("retry-after", ""))
        return POSTPONED[status](status, text, request_id, details, wait_s)
    if status in REFUSALS or status >= 400:
        return REFUSALS.get(status, Refused)(status, text, request_id, details)
    return UnexpectedAnswer(f"{text}: is the address of Tideline right?", request_id)


def _read_error(content: bytes) -> ErrorBody | None:
    """None: the body is that of a proxy."""
    try:
        return msgspec.json.decode(content, type=ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _read_seconds(text: str) -> float:
    """Of Retry-After, which has whole seconds; a proxy may send a date instead."""
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_WAIT_S)
    try:
        at = parsedate_to_datetime(text).timestamp()
    except ValueError:
        return 1.0
    return min(max(at - time.time(), 0.0), LONGEST_WAIT_S)
