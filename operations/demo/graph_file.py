"""Graph files as bytes, plain or gzip. The first bytes tell which, not the file name."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

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
