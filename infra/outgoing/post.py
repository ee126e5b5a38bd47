"""Sends something to a server of others."""

from collections.abc import Mapping

from infra.outgoing.connect import connected


def post(url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> int:
    """The status of the answer, whose body is not read. Raises and lasts as `connected`."""
    with connected(url, seconds) as (connection, path):
        connection.request("POST", path, body, dict(headers))
        return connection.getresponse().status
