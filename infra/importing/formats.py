"""The formats of imports: how a file becomes lines, and a line a record."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from infra.importing.getstream import read_getstream_line
from infra.importing.json_lines import read_json_line
from infra.importing.lines import ImportLines, count_lines, iter_lines
from infra.importing.mastodon import iter_archive, read_mastodon_item
from infra.importing.types import Record


class ImportFormat(NamedTuple):
    """`lines(path, record type, after)`; `read(record type, text)`: LineRefused, None for a line of
    another type; `count_lines(path)`: None if it is not known."""

    lines: Callable[[str, type[Record], int], ImportLines]
    read: Callable[[type[Record], bytes], Record | None]
    count_lines: Callable[[str], int | None]


def _iter_lines(path: str, _: type[Record], after: int) -> ImportLines:
    return iter_lines(path, after)


def _iter_archive(path: str, wanted: type[Record], after: int) -> ImportLines:
    archive: Iterator[object] = iter_archive(path, wanted, after)
    return archive  # type: ignore[return-value]


FORMATS: Mapping[str, ImportFormat] = {
    "json_lines": ImportFormat(_iter_lines, read_json_line, count_lines),
    "getstream": ImportFormat(_iter_lines, read_getstream_line, count_lines),
    "mastodon": ImportFormat(_iter_archive, read_mastodon_item, lambda path: None),
}
