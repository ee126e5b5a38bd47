"""Reads a document of a server of others."""

from http.client import HTTPResponse

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
