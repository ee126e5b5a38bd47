"""Sessions that the server ends between the look of the client and its statement."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, LiteralString

import psycopg
import pytest
from django.db import connections

from infra.sharding.bounded.limits import LimitedConnection
from infra.sharding.shards import shard_aliases

# Until it is gone.
END = "SELECT pg_terminate_backend(%s, 60000)"
END_OTHERS = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


# Port and name of a database.
Place = tuple[int, str]


class SessionEnder:
    """Ends a session of this process at a chosen one of its waits.

    `countdown`: ends it before that many waits from now; None: never.
    """

    def __init__(self, sessions: dict[Place, psycopg.Connection[Any]]) -> None:
        self._sessions = sessions
        self.countdown: int | None = None

    def look(self, connection: LimitedConnection) -> None:
        session = self._sessions.get(_place_of(connection))
        if session is None or self.countdown is None:
            return
        self.countdown -= 1
        if self.countdown == 0:
            self.countdown = None
            session.execute(END, (connection.info.backend_pid,))

    def end_all(self, sql: LiteralString = "SELECT 1") -> None:
        """All sessions of others on the shards. Each shard runs this statement before."""
        for session in self._sessions.values():
            session.execute(sql)
            session.execute(END_OTHERS)

    @contextmanager
    def ending(self, number: int) -> Iterator[None]:
        """In the block the session of wait number so and so ends right before it."""
        self.countdown = number
        yield
        self.countdown, self.was_reached = None, self.countdown is None


@pytest.fixture
def ender(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionEnder]:
    """Of sessions on shards."""
    wait = LimitedConnection.wait
    with ExitStack() as stack:
        sessions = {}
        for alias in shard_aliases():
            own = connections[alias].get_connection_params()
            names = ("host", "port", "dbname", "user", "password")
            parameters = {name: own[name] for name in names if name in own}
            session = stack.enter_context(psycopg.connect(**parameters, autocommit=True))
            sessions[_place_of(session)] = session
        ender = SessionEnder(sessions)

        def looked_at(connection: LimitedConnection, *arguments: Any, **options: Any) -> Any:
            ender.look(connection)
            return wait(connection, *arguments, **options)

        monkeypatch.setattr(LimitedConnection, "wait", looked_at)
        yield ender


def _place_of(connection: psycopg.Connection[Any]) -> Place:
    return connection.info.port, connection.info.dbname
