"""Entity tags (RFC 9110): a client that has the answer already gets 304 without a body.

The tag is a hash of the body. It is a weak tag, because servers in front may compress the body.
"""

from collections.abc import Mapping
from functools import cache

from django.conf import settings
from django.http import HttpResponse
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from infra.api.rendering import json_response

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of an earlier answer. 304 if the answer is still the same",
)
ETAG = OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=[200, 304])
CONDITIONAL = [IF_NONE_MATCH, ETAG]
NOT_MODIFIED = OpenApiResponse(description="The client has this answer already")


def tagged_response(request: Request, body: bytes) -> HttpResponse:
    """The JSON answer with its ETag; 304 if the client has it."""
    return response_with_tag(request, {"ETag": make_tag(body)}, body)


def response_with_tag(request: Request, headers: Mapping[str, str], body: bytes) -> HttpResponse:
    """As `tagged_response`, with headers that have the ETag already."""
    known = request._request.META.get("HTTP_IF_NONE_MATCH")
    if known is None or not _matches(known, headers["ETag"]):
        return json_response(body, headers=headers)
    answer = json_response(b"", 304, {"ETag": headers["ETag"]})
    del answer["Content-Length"], answer["Content-Type"]  # those of the body that is not sent
    return answer


def make_tag(body: bytes, link: str = "") -> str:
    """The ETag of an answer with this body and Link header."""
    return f'W/"{xxh3_128_hexdigest(body + link.encode(), _seed())}"'


@cache
def _seed() -> int:
    """A secret, so that no author can make two posts with one tag. All processes have the same."""
    return xxh3_64_intdigest(settings.SECRET_KEY.encode())


def _matches(known: str, tag: str) -> bool:
    strong = tag.removeprefix("W/")
    return any(known_tag in ("*", tag, strong) for known_tag in parse_etags(known))
