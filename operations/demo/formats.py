"""The file formats of follow graphs. Each is read as pairs of follower and followee.

`edges`: a line per follow, `follower followee`, separated by white space. Further columns, empty
lines, and lines that begin with # or % are skipped.

`nostr`: the JSON that nostr-social-graph writes. Keys and mutes are skipped.

    {"followLists": [[3, [5, 9], 1752792945], …], "muteLists": …, "uniqueIds": [["<key>", 3], …]}

Each follow list is a follower, the followees, and the time it was written.

Graph files as bytes, plain or gzip. The first bytes tell which, not the file name.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import msgspec

from operations.demo.errors import GraphUnreadable

GZIP_MAGIC = b"\x1f\x8b"
# Ids are part of usernames, which have at most 30 characters (operations/demo/names.py).
MAX_NODE = 999_999_999_999


@contextmanager
def open_graph(path: Path) -> Iterator[BinaryIO]:
    """The unpacked content. Raises GraphUnreadable for all errors while it is open."""
    try:
        with path.open("rb") as raw:
            is_packed = raw.peek(2)[:2] == GZIP_MAGIC
            yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if is_packed else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise GraphUnreadable(path, f"damaged gzip file ({error})") from error
    except OSError as error:
        raise GraphUnreadable(path, error.strerror or str(error)) from error


def digest_of(path: Path) -> str:
    """SHA-256 of the unpacked content in hexadecimal. Packing the same graph again keeps it."""
    with open_graph(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def first_byte(path: Path) -> bytes:
    """The first byte that is not white space. Empty for an empty file."""
    with open_graph(path) as file:
        return file.read(1_024).lstrip()[:1]


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
