"""The formats of imports: how a file becomes lines, and a line a record.

Tideline's own format: a JSON object a line, with the fields of a record (types.py).

With an envelope, `{"type": "account", "data": {…}}`, one file may have records of all types.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from infra.importing.errors import LineRefused
from infra.importing.getstream import read_getstream_line
from infra.importing.lines import ImportLines, count_lines, iter_lines
from infra.importing.mastodon import iter_archive, read_mastodon_item
from infra.importing.types import AccountRecord, FollowRecord, PostRecord, ReactionRecord, Record

TYPES: Mapping[str, type[Record]] = {
    "account": AccountRecord,
    "follow": FollowRecord,
    "post": PostRecord,
    "reaction": ReactionRecord,
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


ReadLine = Callable[[type[Record], Counter[str], bytes], Record | None]


class ImportFormat(NamedTuple):
    """`lines(path, record type, after)`; `read(record type, not kept, text)`: LineRefused,
    LineSkipped, None for a line of another type; counts what is not kept by name.
    `count_lines(path)`: None if it is not known."""

    lines: Callable[[str, type[Record], int], ImportLines]
    read: ReadLine
    count_lines: Callable[[str], int | None]


def _iter_lines(path: str, _: type[Record], after: int) -> ImportLines:
    return iter_lines(path, after)


def _iter_archive(path: str, wanted: type[Record], after: int) -> ImportLines:
    archive: Iterator[object] = iter_archive(path, wanted, after)
    return archive  # type: ignore[return-value]


def _keeps_all(read: Callable[[type[Record], bytes], Record | None]) -> ReadLine:
    """Of a format that refuses what Tideline has no place for, or that has no such fields."""

    def read_line(wanted: type[Record], _: Counter[str], text: bytes) -> Record | None:
        return read(wanted, text)

    return read_line


FORMATS: Mapping[str, ImportFormat] = {
    "json_lines": ImportFormat(_iter_lines, _keeps_all(read_json_line), count_lines),
    "getstream": ImportFormat(_iter_lines, read_getstream_line, count_lines),
    "mastodon": ImportFormat(_iter_archive, _keeps_all(read_mastodon_item), lambda path: None),
}
