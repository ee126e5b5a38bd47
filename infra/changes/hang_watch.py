"""Ends the statements of a drainer that wait for a database that hangs.

The server's own statement_timeout does not help when the server hangs. Without this, a shard that
hangs would stop the changes of all databases, because their consumers also write there.
"""

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import structlog
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from infra.sharding.probe import probe_all
from infra.sharding.sql import fetch_one

# A statement that runs for so long is suspicious: then the database is asked whether it answers.
SLOW_S = 2.0
ANSWER_S = 1.0
log = structlog.get_logger()


class HangWatch:
    """Knows the statements that this process runs. `look` is for one thread."""

    def __init__(self) -> None:
        self._since: dict[BaseDatabaseWrapper, float] = {}

    def start(self) -> None:
        """Watches the connections that are opened from now on."""
        connection_created.connect(self._add_connection)

    def stop(self) -> None:
        connection_created.disconnect(self._add_connection)

    def look(self) -> None:
        """Ends slow statements on databases that do not answer. Cost: no query if none is slow."""
        before = time.monotonic() - SLOW_S
        slow = [connection for connection, since in [*self._since.items()] if since < before]
        ask = {one.alias: partial(fetch_one, one.alias, "SELECT 1") for one in slow}
        answers = probe_all(ask, ANSWER_S)
        for connection in slow:
            if answers[connection.alias].error and self._since.get(connection, before) < before:
                log.warning("drainer.statement_ended", alias=connection.alias)
                _shut_down(connection)

    def _add_connection(self, connection: BaseDatabaseWrapper, **_: Any) -> None:
        if self._run not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._run)

    def _run(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        connection = context["connection"]
        self._since[connection] = time.monotonic()
        try:
            return execute(sql, params, many, context)
        finally:
            self._since.pop(connection, None)


def _shut_down(connection: BaseDatabaseWrapper) -> None:
    """The thread that waits for the answer gets an OperationalError."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)
