"""The four ways in which a client may send the parameters of a write."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import orjson
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

FORM = "application/x-www-form-urlencoded"
# Query, body, and the type of the body.
Sent = tuple[str, bytes, str]


def as_json(parameters: Mapping[str, Any]) -> Sent:
    return "", orjson.dumps(parameters), "application/json"


def as_form(parameters: Mapping[str, Any]) -> Sent:
    return "", as_query(parameters)[0].encode(), FORM


def as_multipart(parameters: Mapping[str, Any]) -> Sent:
    fields: dict[str, list[Any]] = {}
    for name, value in _pairs(parameters):
        fields.setdefault(name, []).append(value)
    return "", encode_multipart(BOUNDARY, fields), MULTIPART_CONTENT


def as_query(parameters: Mapping[str, Any]) -> Sent:
    return urlencode(list(_pairs(parameters))), b"", "application/json"


ENCODINGS: Mapping[str, Callable[[Mapping[str, Any]], Sent]] = {
    "json": as_json,
    "form": as_form,
    "multipart": as_multipart,
    "query": as_query,
}


def _pairs(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a form, named as Mastodon's documentation names them."""
    if isinstance(value, Mapping):
        for part, inner in value.items():
            yield from _pairs(inner, f"{name}[{part}]" if name else part)
    elif isinstance(value, list):
        for inner in value:
            yield from _pairs(inner, f"{name}[]")
    else:
        yield name, str(value).lower() if isinstance(value, bool) else value
