"""JSON out: orjson for values, ready-made bytes untouched."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
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


def json_response(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A response of ready-made JSON: no renderer, no negotiation."""
    response = HttpResponse(body, content_type="application/json; charset=utf-8", status=status)
    response["Content-Length"] = str(len(body))
    for name, value in (headers or {}).items():
        response[name] = value
    return response
