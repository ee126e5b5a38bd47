"""A CSV file of Mastodon's settings as lines. Columns: those of its exports, with or without names.

follows     Account address, Show boosts, Notify on new posts, Languages
blocks      Account address
mutes       Account address, Hide notifications
bookmarks   #uri
lists       List name, Account address
"""

import csv
import io
from collections.abc import Sequence

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
_FIRST = {columns[0] for columns in COLUMNS.values()}


def parse_file(kind: BroughtKind, content: bytes) -> list[list[str]]:
    """The cells of each line, in the order of COLUMNS; some are empty. Raises: FileRefused."""
    if len(content) > MOST_BYTES:
        raise FileRefused(f"The file has more than {MOST_BYTES // 1024:,} KB")
    try:
        text = content.decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileRefused(f"This is no CSV file: {error}") from None
    if "\0" in text:
        raise FileRefused("This is no CSV file")
    names = [cell.strip() for cell in rows[0]] if rows and rows[0][0].strip() in _FIRST else None
    lines = rows if names is None else rows[1:]
    if not lines:
        raise FileRefused("The file has no lines")
    if len(lines) > MOST_LINES:
        raise FileRefused(f"The file has more than {MOST_LINES:,} lines")
    return [_place(kind, names, row) for row in lines]


def _place(kind: BroughtKind, names: Sequence[str] | None, row: Sequence[str]) -> list[str]:
    columns = COLUMNS[kind]
    if names is not None and columns[0] not in names:
        raise FileRefused("The file is another kind of list")
    cells = dict(zip(names or columns, row, strict=False))
    return [read_cell(cells.get(name, "").strip())[:MOST_CHARACTERS] for name in columns]
