"""Sends a request to a server of others, and reads its answer."""

from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPResponse
from urllib.parse import urlencode

from infra.outgoing.connect import connected


class DocumentUnreadable(OSError):
    """The server has another answer than 200, or the document is too long."""


def get(url: str, seconds: float, most_bytes: int, is_own: bool = False) -> bytes:
    """The document at this address. Raises: DocumentUnreadable; raises and lasts as `connected`."""
    with connected(url, seconds, is_own) as (connection, path):
        connection.request("GET", path, headers={"Accept": "application/json"})
        return read_document(connection.getresponse(), most_bytes)


def read_document(answer: HTTPResponse, most_bytes: int) -> bytes:
    """The body of an answer. Raises: DocumentUnreadable, OSError, HTTPException."""
    body = answer.read(most_bytes + 1)
    if answer.status != 200 or len(body) > most_bytes:
        raise DocumentUnreadable(f"{answer.status}, {len(body)} bytes")
    return body


def post(url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> int:
    """The status of the answer, whose body is not read. Raises and lasts as `connected`."""
    with connected(url, seconds) as (connection, path):
        connection.request("POST", path, body, dict(headers))
        return connection.getresponse().status


def post_form(
    url: str, form: Mapping[str, str], basic: tuple[str, str], seconds: float, most_bytes: int
) -> bytes:
    """The answer, which must be 200. `basic`: user and password (RFC 7617).

    Raises: DocumentUnreadable; raises and lasts as `connected`.
    """
    proof = b64encode(":".join(basic).encode()).decode()
    headers = {
        "Accept": "application/json",
        "Authorization": f"Basic {proof}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    with connected(url, seconds) as (connection, path):
        connection.request("POST", path, urlencode(form).encode(), headers)
        return read_document(connection.getresponse(), most_bytes)


_HEADERS = {"Accept": "application/json", "Content-Type": "application/json"}


def post_json(url: str, body: bytes, seconds: float, most_bytes: int) -> bytes:
    """The answer, which must be 200. The address may be private: it is one of the settings.

    Raises: DocumentUnreadable; raises and lasts as `connected`.
    """
    with connected(url, seconds, is_own=True) as (connection, path):
        connection.request("POST", path, body, _HEADERS)
        return read_document(connection.getresponse(), most_bytes)
