"""The lines of a file, or of standard input, plain or gzip, with their numbers from 1."""

import gzip
import os
import select
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from infra.importing.errors import FileUnreadable

GZIP_MAGIC = b"\x1f\x8b"
STDIN = "-"
# A line is held in memory. A longer one ends the run: this is not a file of lines.
LONGEST_LINE = 4 * 1024 * 1024
PIECE_BYTES = 256 * 1024
# So long standard input may be silent before what came is written.
QUIET_S = 0.5


class ImportLine(NamedTuple):
    """`number` counts all lines of the source, from 1."""

    number: int
    text: bytes


# None: nothing came for QUIET_S. Only of standard input.
ImportLines = Iterator[ImportLine | None]


def iter_lines(path: str, after: int = 0) -> ImportLines:
    """The lines behind the first `after` ones; empty lines are left out. Raises: FileUnreadable.

    Cost: `after` lines are read and thrown away.
    """
    numbered = _numbered(_iter_stdin() if path == STDIN else _iter_file(Path(path)))
    for line in numbered:
        if line is None or (line.number > after and line.text.strip()):
            yield line


def count_lines(path: str) -> int | None:
    """How many lines a file has; None for standard input. Cost: one pass over the file."""
    if path == STDIN:
        return None
    with _open(Path(path)) as file:
        return sum(1 for _ in file)


def _numbered(texts: Iterable[bytes | None]) -> ImportLines:
    number = 0
    for text in texts:
        if text is None:
            yield None
        else:
            number += 1
            yield ImportLine(number, text)


def _iter_file(path: Path) -> Iterator[bytes]:
    with _open(path) as file:
        while text := file.readline(LONGEST_LINE + 1):
            yield _checked(text)


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    """The unpacked content. Raises: FileUnreadable, also while it is open."""
    try:
        with path.open("rb") as raw:
            is_packed = raw.peek(2)[:2] == GZIP_MAGIC
            yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if is_packed else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileUnreadable(f"{path}: damaged gzip file ({error})") from error
    except OSError as error:
        raise FileUnreadable(f"{path}: {error.strerror or error}") from error


def _iter_stdin() -> Iterator[bytes | None]:
    """Lines as they come. A last line without its end is a line too."""
    source, left = sys.stdin.fileno(), b""
    while True:
        if not select.select([source], [], [], QUIET_S)[0]:
            yield None
            continue
        piece = os.read(source, PIECE_BYTES)
        if not piece:
            break
        *whole, left = (left + piece).split(b"\n")
        yield from map(_checked, whole)
        _checked(left)
    if left:
        yield left


def _checked(text: bytes) -> bytes:
    if len(text) > LONGEST_LINE:
        raise FileUnreadable(f"a line is longer than {LONGEST_LINE:,} bytes")
    return text
