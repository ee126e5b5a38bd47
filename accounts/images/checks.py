"""`check --deploy` of images: a new installation must be able to store one.

Tries the store of images: writes a small file, reads it, and deletes it.

Reads a file of an image as readers do: at its address, through the proxy or from the bucket.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from django.core.checks import CheckMessage, Error

from accounts.images.errors import ImagesUnavailable
from accounts.images.file_names import new_token, url_of_file
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


# Below the patience of show_status.
ANSWER_S = 1.0
_MOST_BYTES = 1_000


def read_published_file(name: str) -> bytes:
    """The first bytes of a file. It follows no redirect. Raises: ImagesUnavailable."""
    address = url_of_file(name)
    try:
        status, content = _get(address)
    except (OSError, HTTPException, ValueError) as error:
        raise ImagesUnavailable(f"stored, but not read at {address}: {error}") from error
    if status != 200:
        raise ImagesUnavailable(f"stored, but {address} answers {status}")
    return content


def _get(address: str) -> tuple[int, bytes]:
    url = urlsplit(address)
    make = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = make(url.hostname or "", url.port, timeout=ANSWER_S)
    try:
        connection.request("GET", url.path)
        answer = connection.getresponse()
        return answer.status, answer.read(_MOST_BYTES)
    finally:
        connection.close()


_HINT = "Tideline's user must be able to write MEDIA_DIR, or MEDIA_BUCKET must be reachable."


def check_store(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Writes a file, reads it and deletes it."""
    try:
        try_store()
    except ImagesUnavailable as error:
        return [Error(f"No image can be stored: {error.why}", hint=_HINT, id="images.E001")]
    return []
