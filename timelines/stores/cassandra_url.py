"""Where Cassandra is, as the URL in CASSANDRA_URL says it."""

import re
from typing import NamedTuple
from urllib.parse import unquote

DEFAULT_PORT, HIGHEST_PORT = "9042", 65_535
_FORM = "cassandra://user:password@host:port,host:port/keyspace?datacenter=name"
_URL = re.compile(r"cassandra://(?:([^:@/]+):([^@/]+)@)?([^@/?]+)/(\w+)\?datacenter=([^&]+)")
_NODE = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+)(?::(\d{1,5}))?")


class CassandraServers(NamedTuple):
    """`hosts`: some nodes of the local data centre, which know all others. `user`: may be empty.

    All nodes have one port.
    """

    hosts: tuple[str, ...]
    port: int
    keyspace: str
    datacenter: str
    user: str
    password: str


def cassandra_servers(url: str) -> CassandraServers:
    """Raises: ValueError, whose text has no part of the URL, because that may be the password."""
    parts = _URL.fullmatch(url)
    nodes = [_NODE.fullmatch(node) for node in parts[3].split(",")] if parts else [None]
    ports = {node[2] or DEFAULT_PORT for node in nodes if node}
    if parts is None or None in nodes:
        raise ValueError(f"needs {_FORM}")
    if len(ports) > 1 or int(*ports) > HIGHEST_PORT:
        raise ValueError("all nodes of Cassandra have the same port, up to 65535")
    hosts = tuple(node[1].strip("[]") for node in nodes if node)
    user, password = unquote(parts[1] or ""), unquote(parts[2] or "")
    return CassandraServers(hosts, int(*ports), parts[4], unquote(parts[5]), user, password)
