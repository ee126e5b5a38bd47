"""JSON out: orjson for values, ready-made bytes untouched."""

from collections.abc import Collection, Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.renderers import BaseRenderer


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
    """Ready-made JSON, and its headers as they were set: Django would look each up again by name,
    one after the other, when it sends them."""

    def items(self) -> Collection[tuple[str, str]]:
        return self.headers._store.values()


def json_response(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A response of ready-made JSON: no renderer, no negotiation. `headers`: as in `add_plain`."""
    response = JsonAnswer(body, content_type="application/json; charset=utf-8", status=status)
    add_trusted_headers(response, {"Content-Length": str(len(body)), **(headers or {})})
    return response


def add_trusted_headers(response: HttpResponseBase, headers: Mapping[str, str]) -> None:
    """Headers made of numbers and words of our own.

    Not for anything of a client's: it is not looked at for line breaks, nor for what is not ASCII,
    which is most of the 2 µs that Django takes for a header.
    """
    response.headers._store.update(zip(map(str.lower, headers), headers.items(), strict=True))
