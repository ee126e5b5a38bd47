"""The file formats of follow graphs. Each is read as pairs of follower and followee.

`edges`: a line per follow, `follower followee`, separated by white space. Further columns, empty
lines, and lines that begin with # or % are skipped.

`nostr`: the JSON that nostr-social-graph writes. Keys and mutes are skipped.

    {"followLists": [[3, [5, 9], 1752792945], …], "muteLists": …, "uniqueIds": [["<key>", 3], …]}

Each follow list is a follower, the followees, and the time it was written.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from operations.demo.errors import GraphUnreadable
from operations.demo.graph_file import MAX_NODE, open_graph

COMMENTS = (b"#", b"%")
Node = Annotated[int, msgspec.Meta(ge=0, le=MAX_NODE)]


class FollowList(msgspec.Struct, array_like=True):
    """Further elements of the array are skipped."""

    follower: Node
    followees: list[Node]


class Document(msgspec.Struct, rename="camel"):
    follow_lists: list[FollowList]


def iter_edges(path: Path) -> Iterator[tuple[int, int]]:
    """(follower, followee) in the file's order, read line by line. Raises GraphUnreadable."""
    with open_graph(path) as file:
        for number, line in enumerate(file, 1):
            columns = line.split(None, 2)
            if columns and not line.startswith(COMMENTS):
                yield _read_columns(columns, path, number)


def iter_nostr(path: Path) -> Iterator[tuple[int, int]]:
    """(follower, followee) in the file's order. Raises GraphUnreadable.

    Cost: the whole document is in memory, with about ten times its unpacked size.
    """
    with open_graph(path) as file:
        content = file.read()
    try:
        document = msgspec.json.decode(content, type=Document)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise GraphUnreadable(path, str(error)) from error
    for follows in document.follow_lists:
        for followee in follows.followees:
            yield follows.follower, followee


FORMATS: Mapping[str, Callable[[Path], Iterator[tuple[int, int]]]] = {
    "edges": iter_edges,
    "nostr": iter_nostr,
}


def _read_columns(columns: list[bytes], path: Path, number: int) -> tuple[int, int]:
    if len(columns) < 2:
        raise GraphUnreadable(path, "a line needs a follower and a followee", number)
    return _read_node(columns[0], path, number), _read_node(columns[1], path, number)


def _read_node(text: bytes, path: Path, number: int) -> int:
    # Checks the length first: a line of megabytes must become neither a number nor a message.
    if len(text) <= len(str(MAX_NODE)) and text.isdigit():
        return int(text)
    shown = text[:40].decode("ascii", "backslashreplace")
    raise GraphUnreadable(path, f"{shown} is not an id between 0 and {MAX_NODE:,}", number)
