"""Which of the servers that a URL names answered last. It is tried first.

libpq tries them in the order of the URL. After a failover the first may hang, and each new
connection would wait for it.
"""

from collections.abc import Mapping
from typing import Any

import psycopg

DEFAULT_PORT = "5432"
# By database: host and port. Threads share it. A value that is old costs one more attempt.
_last: dict[str, tuple[str, str]] = {}


def with_last_first(alias: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a connection, with the server that answered last as the first."""
    hosts, ports = (str(parameters.get(name) or "").split(",") for name in ("host", "port"))
    if len(ports) == 1:
        ports *= len(hosts)
    # libpq refuses another number of ports, and says so.
    if alias not in _last or len(ports) != len(hosts):
        return {**parameters}
    servers = zip(hosts, (port or DEFAULT_PORT for port in ports), strict=True)
    ordered = sorted(servers, key=lambda server: server != _last[alias])
    return {
        **parameters,
        "host": ",".join(host for host, _ in ordered),
        "port": ",".join(port for _, port in ordered),
    }


def note_server(alias: str, parameters: Mapping[str, Any], connection: psycopg.Connection) -> None:
    """The database answered on this connection. One comparison for a URL with one server."""
    if "," in str(parameters.get("host") or ""):
        _last[alias] = (connection.pgconn.host.decode(), connection.pgconn.port.decode())
