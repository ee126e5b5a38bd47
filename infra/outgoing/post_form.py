"""Sends a form to a server of others, and reads its answer."""

from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import urlencode

from infra.outgoing.connect import connected
from infra.outgoing.get import read_document


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
