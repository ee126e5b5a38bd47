"""Errors as facts, and the one place where they become status codes: `{"error": …}`."""

from typing import Any, ClassVar

import structlog
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

log = structlog.get_logger()


class TidelineError(Exception):
    """A fact the caller can act upon. `status` is its HTTP code; the text goes out as it is."""

    status: ClassVar[int] = 422
    text: ClassVar[str] = "The request cannot be processed"

    def __init__(self, text: str | None = None) -> None:
        super().__init__(text or self.text)


class NotFound(TidelineError):
    status = 404
    text = "Record not found"


class InvalidCursor(TidelineError):
    status = 422
    text = "Cursor is not valid for this list"


class InvalidRequest(TidelineError):
    status = 422


def answer_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. A shard out of reach is 503 with Retry-After, never a 500."""
    set_rollback()
    match error:
        case TidelineError():
            return _answer(error.status, str(error))
        case Http404():
            return _answer(404, NotFound.text)
        case PermissionDenied():
            return _answer(403, "This action is not allowed")
        case exceptions.APIException():
            return _answer(error.status_code, _text_of(error), _headers_of(error))
        case OperationalError() | InterfaceError():
            log.error("request.database_unreachable", error=str(error))
            return _answer(503, "Temporarily unavailable, try again", {"Retry-After": "2"})
    return None


def _answer(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response({"error": text}, status=status, headers=headers)


def _text_of(error: exceptions.APIException) -> str:
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return "The access token is invalid"
    detail = error.detail
    return str(detail) if isinstance(detail, str) else "; ".join(_flatten(detail))


def _flatten(detail: Any) -> list[str]:
    if isinstance(detail, dict):
        return [f"{name}: {text}" for name, value in detail.items() for text in _flatten(value)]
    if isinstance(detail, list):
        return [text for value in detail for text in _flatten(value)]
    return [str(detail)]


def _headers_of(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(error.auth_header)
    if getattr(error, "wait", None):
        headers["Retry-After"] = str(int(error.wait))
    return headers
