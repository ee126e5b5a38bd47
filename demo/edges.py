"""The `edges` format: a line per follow, `follower followee`, white space between.

Lines that are empty or begin with # or % are passed over, and so are further columns.
"""

from collections.abc import Iterator
from pathlib import Path

from demo.errors import GraphUnreadable
from demo.graph_file import MAX_NODE, open_graph

COMMENTS = (b"#", b"%")


def iter_edges(path: Path) -> Iterator[tuple[int, int]]:
    """(follower, followee) in the file's order; a line at a time. Raises GraphUnreadable."""
    with open_graph(path) as file:
        for number, line in enumerate(file, 1):
            columns = line.split(None, 2)
            if columns and not line.startswith(COMMENTS):
                yield _read(columns, path, number)


def _read(columns: list[bytes], path: Path, number: int) -> tuple[int, int]:
    if len(columns) < 2:
        raise GraphUnreadable(path, "a line needs a follower and a followee", number)
    return _node(columns[0], path, number), _node(columns[1], path, number)


def _node(text: bytes, path: Path, number: int) -> int:
    # Length first: a line of megabytes must not become a number, nor a message.
    if len(text) <= len(str(MAX_NODE)) and text.isdigit():
        return int(text)
    shown = text[:40].decode("ascii", "backslashreplace")
    raise GraphUnreadable(path, f"{shown} is not an id between 0 and {MAX_NODE:,}", number)
