"""Reads a file of an image as readers do: at its address, through the proxy or from the bucket."""

from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from accounts.images.errors import ImagesUnavailable
from accounts.images.file_names import url_of_file

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
