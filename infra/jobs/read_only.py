"""Makes a dry run unable to write to any database.

Every session sets `default_transaction_read_only`, so PostgreSQL refuses writes by raw SQL, COPY
and the ORM, and SELECT … FOR UPDATE too. A job that does not check `work.dry_run` ends with "cannot
execute UPDATE in a read-only transaction". To roll back each batch instead would lock rows that
others use, and would not stop other threads. Redis is not protected: a job checks `work.dry_run`
before it writes there.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from infra.sharding.bounded.base import refusals_are_faults
from infra.sharding.shards import all_aliases

READ_ONLY = "SET default_transaction_read_only = on"
WRITABLE = "RESET default_transaction_read_only"


@contextmanager
def read_only() -> Iterator[None]:
    """Makes the connections of this thread read-only, also those opened inside the block.

    The process of a command has no others. Enter it outside a transaction: an open transaction
    stays writable.
    """
    sessions: list[psycopg.Connection[Any]] = []

    def make_read_only(connection: BaseDatabaseWrapper, **_: Any) -> None:
        connection.connection.execute(READ_ONLY)
        sessions.append(connection.connection)

    connection_created.connect(make_read_only)
    try:
        for alias in all_aliases():
            if connections[alias].connection is not None:
                make_read_only(connections[alias])
        with refusals_are_faults():
            yield
    finally:
        connection_created.disconnect(make_read_only)
        for session in sessions:
            with suppress(psycopg.Error):  # a broken session needs no reset
                session.execute(WRITABLE)
