"""The backend of read replicas. A replica that hangs may only cost milliseconds.

The server's own statement_timeout does not help when the server itself hangs.
"""

from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import psycopg
from django.db.backends.postgresql import base


class BoundedConnection(psycopg.Connection[Any]):
    """Waits at most `answer_s` for an answer.

    Close the connection after a timeout: the late answer would be read as that of the next query.
    """

    answer_s: float | None = None

    def wait(
        self, gen: Generator[Any, Any, Any], interval: float = 0.1, timeout: float | None = None
    ) -> Any:
        """Raises OperationalError if the answer did not come in time."""
        return super().wait(gen, interval, timeout or self.answer_s)


class DatabaseWrapper(base.DatabaseWrapper):
    Database = SimpleNamespace(  # type: ignore[assignment]  # psycopg with another `connect`
        **{**vars(psycopg), "connect": BoundedConnection.connect}
    )

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        answer_s = conn_params.pop("answer_s")
        connection = super().get_new_connection(conn_params)
        connection.answer_s = answer_s
        return connection
