"""Entity tags (RFC 9110): a client that has the answer already gets 304 without a body.

The tag is made of what the body is joined from, so equal tags mean equal bodies. It is a weak tag,
because servers in front may compress the body.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import sha1

from django.http import HttpResponse
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request

from infra.api.rendering import json_response

DIGEST_BYTES = 12
# About 2 kB each.
MOST_DIGESTS = 4_096
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of an earlier answer. 304 if the answer is still the same",
)
ETAG = OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=[200, 304])
CONDITIONAL = [IF_NONE_MATCH, ETAG]
NOT_MODIFIED = OpenApiResponse(description="The client has this answer already")


def tagged_response(
    request: Request, parts: Iterable[bytes], body: Callable[[], bytes]
) -> HttpResponse:
    """The JSON answer with its ETag; 304 if the client has it.

    `parts`: all that the body and the headers are made of, in their order. `body` joins them, and
    is not called for a 304.
    """
    return response_with_tag(request, {"ETag": make_tag(parts)}, body)


def response_with_tag(
    request: Request, headers: Mapping[str, str], body: Callable[[], bytes]
) -> HttpResponse:
    """As `tagged_response`, with headers that have the ETag already."""
    known = request._request.META.get("HTTP_IF_NONE_MATCH")
    if known is None or not _matches(known, headers["ETag"]):
        return json_response(body(), headers=headers)
    answer = json_response(b"", 304, {"ETag": headers["ETag"]})
    del answer["Content-Length"], answer["Content-Type"]  # those of the body that is not sent
    return answer


def make_tag(parts: Iterable[bytes]) -> str:
    """The ETag of an answer that is made of these parts, in this order."""
    return f'W/"{_hash(b"".join(map(_digest, parts))).hex()}"'


def _matches(known: str, tag: str) -> bool:
    strong = tag.removeprefix("W/")
    return any(known_tag in ("*", tag, strong) for known_tag in parse_etags(known))


@lru_cache(MOST_DIGESTS)
def _digest(part: bytes) -> bytes:
    """The hash of one part. Cached: many answers have the same entities."""
    return _hash(part)


def _hash(text: bytes) -> bytes:
    return sha1(text, usedforsecurity=False).digest()[:DIGEST_BYTES]
