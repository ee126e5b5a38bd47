"""Tries the store of images: writes a small file, reads it, and deletes it."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath

from accounts.images.errors import ImagesUnavailable
from accounts.images.file_names import new_token
from accounts.images.store import delete_files, read_file, write_files

# Above the numbers of accounts: the highest one has six digits in base 36.
_FIRST_OWNER, _OWNERS = 9_000_000_000, 1_000_000_000
Read = Callable[[str], bytes | None]


def try_store(reads: Sequence[Read] = (read_file,)) -> None:
    """Returns when a new file could be written and be read in each of these ways.

    Raises: ImagesUnavailable, whose `why` says what failed. Safety: a process that dies here leaves
    a file of 32 bytes that nothing names. Cost: a write, the reads and a deletion.
    """
    with _stored_file() as (name, content):
        for read in reads:
            if read(name) != content:
                raise ImagesUnavailable(f"{name} was written, and something else was read")


@contextmanager
def _stored_file() -> Iterator[tuple[str, bytes]]:
    """A new file and its content. It has the name of an image, because no other name is served.

    Its owner is new too: an upload of a new account needs a new folder, and gets it only if the
    store itself can be written.
    """
    token, owner = new_token(), _FIRST_OWNER + secrets.randbelow(_OWNERS)
    path = PurePosixPath(f"{owner}/0/{token}/original.jpg")
    write_files({str(path): token.encode()})
    try:
        yield str(path), token.encode()
    finally:
        delete_files([str(path), *map(str, path.parents[:3])])
