"""Tideline's own format: a JSON object a line, with the fields of a record (types.py).

With an envelope, `{"type": "account", "data": {…}}`, one file may have records of all three types.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from infra.importing.errors import LineRefused
from infra.importing.types import AccountRecord, FollowRecord, PostRecord, Record

TYPES: Mapping[str, type[Record]] = {
    "account": AccountRecord,
    "follow": FollowRecord,
    "post": PostRecord,
}


def read_json_line(wanted: type[Record], text: bytes) -> Record | None:
    """The record of this line; None: it is of another type. Raises: LineRefused."""
    try:
        return msgspec.json.decode(text, type=wanted)
    except msgspec.ValidationError as error:
        envelope = _open_envelope(text)
        if envelope is None:
            raise LineRefused(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LineRefused(f"no JSON: {error}") from None
    return _convert(wanted, *envelope)


def _open_envelope(text: bytes) -> tuple[object, Any] | None:
    document = msgspec.json.decode(text)
    if isinstance(document, dict) and document.keys() == {"type", "data"}:
        return document["type"], document["data"]
    return None


def _convert(wanted: type[Record], name: object, data: Any) -> Record | None:
    known = TYPES.get(name) if isinstance(name, str) else None
    if known is None:
        raise LineRefused(f"the type is not {', '.join(TYPES)}")
    if known is not wanted:
        return None
    try:
        return msgspec.convert(data, type=wanted)
    except msgspec.ValidationError as error:
        raise LineRefused(str(error)) from None
