"""Makes a dry run unable to write to any database.

PostgreSQL itself refuses: every session says `default_transaction_read_only`, so raw SQL, COPY and
the ORM are stopped alike, and so is SELECT … FOR UPDATE. A job that forgot to ask `work.dry_run`
ends with "cannot execute UPDATE in a read-only transaction". Rolling each batch back was the other
way: it locks rows of the living, and does not reach what other threads commit or what Redis gets.
Redis is not held: a job asks `work.dry_run` before it writes there.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from infra.sharding.placement import all_aliases

READ_ONLY = "SET default_transaction_read_only = on"
AS_BEFORE = "RESET default_transaction_read_only"


@contextmanager
def read_only() -> Iterator[None]:
    """Nothing is written through this thread's connections, nor through any made meanwhile.

    A command's process has no others. Enter it outside a transaction: one that is open goes on.
    """
    sessions: list[psycopg.Connection[Any]] = []

    def close_to_writes(connection: BaseDatabaseWrapper, **_: Any) -> None:
        connection.connection.execute(READ_ONLY)
        sessions.append(connection.connection)

    connection_created.connect(close_to_writes)
    try:
        for alias in all_aliases():
            if connections[alias].connection is not None:
                close_to_writes(connections[alias])
        yield
    finally:
        connection_created.disconnect(close_to_writes)
        for session in sessions:
            with suppress(psycopg.Error):  # it broke, so it is read-only for nobody
                session.execute(AS_BEFORE)
