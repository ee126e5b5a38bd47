"""JSON out: orjson for values, ready-made bytes untouched."""

from collections.abc import Collection, Mapping, Sequence
from http.cookies import SimpleCookie
from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase, ResponseHeaders
from django.utils.functional import cached_property
from rest_framework.renderers import BaseRenderer

# An answer is for one token, so no shared cache may keep it. It is JSON, and browsers must not
# guess another type.
_OF_ALL_ANSWERS = {
    name.lower(): (name, value)
    for name, value in {
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Tideline-Account",
        "X-Content-Type-Options": "nosniff",
    }.items()
}
# For answers with a token or a secret.
NO_STORE = {"Cache-Control": "no-store"}


class OrjsonRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Any = None,
    ) -> bytes:
        return b"" if data is None else orjson.dumps(data, default=str)


class JsonAnswer(HttpResponse):
    """Ready-made JSON, made without Django's checks of each header.

    `parts`: of the body, which are joined when it is sent. `headers`: by lower-case name, as Django
    stores them; `items` returns them as they are.
    """

    _charset = None
    _handler_class = None
    _reason_phrase = None
    closed = False
    # Made at its first use, because the API sets no cookies.
    cookies = cached_property(lambda _: SimpleCookie())

    def __init__(
        self, parts: Sequence[bytes], status: int, headers: dict[str, tuple[str, str]]
    ) -> None:
        self.headers = ResponseHeaders({})
        self.headers._store = headers
        self.status_code = status
        self._container = parts
        self._resource_closers: list[Any] = []

    @property
    def parts(self) -> Sequence[bytes]:
        return self._container

    def items(self) -> Collection[tuple[str, str]]:
        return self.headers._store.values()


def json_response(
    body: bytes | Sequence[bytes], status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A response of ready-made JSON: no renderer, no negotiation.

    Caches must not keep it unless `headers` say otherwise. `body`: or its parts. `headers`: as in
    `add_trusted_headers`.
    """
    parts = (body,) if isinstance(body, bytes) else body
    length = str(sum(map(len, parts)))
    stored = _OF_ALL_ANSWERS | {"content-length": ("Content-Length", length)}
    response = JsonAnswer(parts, status, stored)
    if headers:
        add_trusted_headers(response, headers)
    return response


def add_trusted_headers(response: HttpResponseBase, headers: Mapping[str, str]) -> None:
    """Sets headers without Django's checks, which are slow.

    Safety: only for values of our own. Line breaks and non-ASCII characters are not checked, so a
    client's text must never get here.
    """
    stored = response.headers._store
    for name, value in headers.items():
        stored[name.lower()] = name, value


def add_trusted_header(response: HttpResponseBase, name: str, value: str) -> None:
    """As `add_trusted_headers`, for one."""
    response.headers._store[name.lower()] = name, value
