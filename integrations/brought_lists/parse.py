"""A CSV file of Mastodon's settings as lines. Columns: those of its exports, with or without names.

The names say which kind of file it is. Without names, or with one that several kinds have, only the
person knows.

follows     Account address, Show boosts, Notify on new posts, Languages
blocks      Account address
mutes       Account address, Hide notifications
bookmarks   #uri
lists       List name, Account address
"""

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from infra.cells import read_cell
from integrations.brought_lists.errors import FileRefused
from integrations.brought_lists.types import BroughtKind

MOST_BYTES = 1024 * 1024
MOST_LINES = 5_000
MOST_CHARACTERS = 2_000
COLUMNS: dict[BroughtKind, Sequence[str]] = {
    BroughtKind.FOLLOWS: ("Account address", "Show boosts", "Notify on new posts", "Languages"),
    BroughtKind.BLOCKS: ("Account address",),
    BroughtKind.MUTES: ("Account address", "Hide notifications"),
    BroughtKind.BOOKMARKS: ("#uri",),
    BroughtKind.LISTS: ("List name", "Account address"),
}
# What the header of a file of another kind says.
OTHER_KINDS = {
    BroughtKind.FOLLOWS: "This is a file of people you follow. Choose that list, or another file",
    BroughtKind.BLOCKS: "This is a file of people you block. Choose that list, or another file",
    BroughtKind.MUTES: "This is a file of people you mute. Choose that list, or another file",
    BroughtKind.BOOKMARKS: "This is a file of bookmarks. Choose that list, or another file",
    BroughtKind.LISTS: "This is a file of lists. Choose that list, or another file",
}
_NAMES = {name.lower() for columns in COLUMNS.values() for name in columns}


class ParsedFile(NamedTuple):
    """`lines`: the cells of each line, in the order of COLUMNS; some are empty. `is_sure`: the
    header says that the file is of this kind and of no other."""

    lines: list[list[str]]
    is_sure: bool


def parse_file(kind: BroughtKind, content: bytes) -> ParsedFile:
    """Raises: FileRefused, also if the header says that the file is of another kind."""
    rows = _read_rows(content)
    names = [cell.strip().lower() for cell in rows[0]] if rows else []
    has_header = not _NAMES.isdisjoint(names)
    kinds = _kinds_of(names) if has_header else [*BroughtKind]
    if kind not in kinds:
        raise FileRefused(
            OTHER_KINDS[kinds[0]] if len(kinds) == 1 else "The file is another kind of list"
        )
    lines = rows[1:] if has_header else rows
    if not lines:
        raise FileRefused("The file has no lines")
    if len(lines) > MOST_LINES:
        raise FileRefused(f"The file has more than {MOST_LINES:,} lines")
    columns = [name.lower() for name in COLUMNS[kind]]
    placed = [_place(columns, names if has_header else columns, row) for row in lines]
    return ParsedFile(placed, is_sure=kinds == [kind])


def _read_rows(content: bytes) -> list[list[str]]:
    """Raises: FileRefused."""
    if len(content) > MOST_BYTES:
        raise FileRefused(f"The file has more than {MOST_BYTES // 1024:,} KB")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        reader = csv.reader(io.StringIO(text), strict=True, delimiter=_delimiter(text))
        rows = [row for row in reader if any(row)]
    except UnicodeDecodeError:
        raise FileRefused("The file is not in UTF-8. Save it again as CSV in UTF-8") from None
    except csv.Error as error:
        raise FileRefused(f"This is no CSV file: {error}") from None
    if "\0" in text:
        raise FileRefused("This is no CSV file")
    return rows


def _delimiter(text: str) -> str:
    """What is between the names of the header. Programs for tables write semicolons or tabs where
    the comma is in numbers."""
    header = text.lstrip().partition("\n")[0].lower()
    for sign in ",;\t":
        if not _NAMES.isdisjoint(name.strip(' "') for name in header.split(sign)):
            return sign
    return ","


def _kinds_of(names: Sequence[str]) -> list[BroughtKind]:
    """Those that have their first column and each known one of these."""
    known = _NAMES.intersection(names)
    columns = {kind: [name.lower() for name in COLUMNS[kind]] for kind in BroughtKind}
    return [kind for kind in columns if columns[kind][0] in known and known <= {*columns[kind]}]


def _place(columns: Sequence[str], names: Sequence[str], row: Sequence[str]) -> list[str]:
    cells = dict(zip(names, row, strict=False))
    return [read_cell(cells.get(name, "").strip())[:MOST_CHARACTERS] for name in columns]
