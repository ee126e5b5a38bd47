"""Sends JSON to a server of the operator, and reads its answer."""

from infra.outgoing.connect import connected
from infra.outgoing.get import read_document

_HEADERS = {"Accept": "application/json", "Content-Type": "application/json"}


def post_json(url: str, body: bytes, seconds: float, most_bytes: int) -> bytes:
    """The answer, which must be 200. The address may be private: it is one of the settings.

    Raises: DocumentUnreadable; raises and lasts as `connected`.
    """
    with connected(url, seconds, is_own=True) as (connection, path):
        connection.request("POST", path, body, _HEADERS)
        return read_document(connection.getresponse(), most_bytes)
