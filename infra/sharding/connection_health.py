"""Each thread's open connections, so that a request need not check every database.

Connections stay open (CONN_MAX_AGE). When a thread starts its next request, it drops the broken
ones. Before the first query of a request, a connection that was silent for a while is asked whether
it is healthy (bounded/base.py). At the end a connection is closed if the server has none left for
others.
"""

import threading
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.sharding.bounded.breaker import was_ever_scarce


class _ThreadConnections(threading.local):
    def __init__(self) -> None:
        self.connections: dict[str, BaseDatabaseWrapper] = {}


_thread = _ThreadConnections()


def remember_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receiver of connection_created. A copy has the same alias; its maker closes it."""
    if connection in connections.all(initialized_only=True):
        _thread.connections[connection.alias] = connection


def drop_broken_connections(**_: Any) -> None:
    """Receiver of request_started. It asks no database: a request that needs none must not wait."""
    for connection in _thread.connections.values():
        connection.health_check_done = False  # type: ignore[attr-defined]
        if not connection.autocommit and not connection.in_atomic_block:
            connection.close()


def give_back_connections(keep: str | None = None, **_: Any) -> None:
    """Receiver of request_finished. Threads without requests call it after each round of work.

    `keep`: the database whose session holds a lease.
    """
    if not was_ever_scarce():
        return
    for alias, connection in _thread.connections.items():
        if alias != keep:
            connection.give_back()  # type: ignore[attr-defined]
