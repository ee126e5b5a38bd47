"""Validates the type of a post, and the JSON object that a product adds to it.

The object is I-JSON (RFC 7493), so that all clients read what was sent: no name twice, no number
that loses digits, no NUL. Its size and depth are bounded.
"""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NoReturn

import orjson

from infra.api.parsing import clean_text
from infra.api.request import ApiRequest
from posts.actions.request_fields import find_choice
from posts.errors import InvalidDraft
from posts.queries.post_types import TYPE_NAME, list_type_names
from posts.types import STATUS

MOST_BYTES, MOST_LEVELS = 4_096, 8
# As it is sent: with blanks, and with each letter as \\uXXXX.
MOST_SENT_BYTES = 4 * MOST_BYTES
MOST_INTEGER = 2**53 - 1


def find_type(data: Mapping[str, Any]) -> str | None:
    """The declared type that a request names; None for a status.

    Raises: InvalidDraft, with the names that there are. Cost: as `list_type_names`.
    """
    name = data.get("type")
    if name in (None, "", STATUS):
        return None
    wanted = name if isinstance(name, str) and TYPE_NAME.fullmatch(name) else None
    names = list_type_names(wanted)
    return find_choice(data, "type", {each: each for each in (STATUS, *names)})


def check_same_type(data: Mapping[str, Any], post_type: str | None) -> None:
    """For edits, with which some clients send the type. Raises: InvalidDraft for another one."""
    if data.get("type") not in (None, "", post_type or STATUS):
        raise InvalidDraft("Validation failed: The type of a post cannot be changed")


def find_custom(request: ApiRequest) -> str | None:
    """The JSON object `custom` of a request, as compact text; None if it sends none.

    A form sends it as text or as fields. Raises: InvalidDraft, InvalidRequest (both 422).
    """
    sent = request.data.get("custom")
    if sent in (None, ""):
        return None
    text = sent if isinstance(sent, str) else request.find_json("custom")
    return encode_custom(sent if text is None else _parse(text))


def encode_custom(value: object) -> str:
    """The JSON object as compact text. Raises: InvalidDraft, InvalidRequest (both 422)."""
    if not isinstance(value, dict):
        raise _invalid("must be a JSON object")
    _check(value, 1)
    encoded = orjson.dumps(value)
    if len(encoded) > MOST_BYTES:
        raise _invalid(f"has more than {MOST_BYTES:,} bytes of JSON")
    return encoded.decode()


def _parse(text: str | bytes) -> Any:
    if len(text) > MOST_SENT_BYTES:
        raise _invalid(f"has more than {MOST_BYTES:,} bytes of JSON")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # also of a number with thousands of digits
        raise _invalid("is not valid JSON") from None


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _invalid("has a name twice")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise _invalid(f"has {name}, which is not JSON")


def _check(value: Any, level: int) -> None:
    match value:
        case str():
            clean_text(value, "custom")
        case float() if not isfinite(value):
            raise _invalid("has a number that is too large")
        case int() if abs(value) > MOST_INTEGER:
            raise _invalid(f"has an integer beyond {MOST_INTEGER:,}: send it as text")
        case dict() | list():
            _check_inner(value, level)


def _check_inner(value: dict[str, Any] | list[Any], level: int) -> None:
    if level > MOST_LEVELS:
        raise _too_deep()
    if isinstance(value, dict):
        for name in value:
            clean_text(name, "custom")
    for inner in value.values() if isinstance(value, dict) else value:
        _check(inner, level + 1)


def _too_deep() -> InvalidDraft:
    return _invalid(f"is nested more than {MOST_LEVELS} levels deep")


def _invalid(fault: str) -> InvalidDraft:
    return InvalidDraft(f"Validation failed: custom {fault}")
