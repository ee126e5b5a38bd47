"""The backend of all databases. A database that hangs may only cost a moment.

Which of the servers that a URL names answered last. It is tried first.

libpq tries them in the order of the URL. After a failover the first may hang, and each new
connection would wait for it.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, cast
from weakref import proxy

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorWrapper
from django.utils.functional import cached_property
from prometheus_client import Counter

from infra import deadline
from infra.evidence import note_other_source
from infra.sharding.bounded.breaker import DatabaseBreaker, breaker_of, connect_when_free, is_scarce
from infra.sharding.bounded.ended_sessions import EndNoticingCursor, note_end
from infra.sharding.bounded.limits import LimitedConnection, note_unreplicated
from infra.sharding.bounded.moved_rows import MOST_PREPARED, PREPARED_AFTER, MovesNoticed
from infra.sharding.bounded.wait_limits import patience, session_parameters
from infra.sharding.errors import AnswerTooLate, RequestTooLong
from infra.shared_thread import need_own_thread

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


# A wait of 0 would not even look whether the answer is there.
SHORTEST_S = 0.001
# A firewall may forget a connection that was silent for minutes, and tell neither side.
SILENT_S = 10.0


BROKEN_OFF = Counter(
    "tideline_database_broken_off_total",
    "Statements that were broken off because the time of the read was over",
    ["shard"],
)


class AnswerLimit:
    """The limit of the connections to one database: its breaker, and the longest wait.

    `answer_s`: None: the patience of this process.
    """

    def __init__(self, alias: str, breaker: DatabaseBreaker, answer_s: float | None) -> None:
        self._alias, self._breaker, self._answer_s = alias, breaker, answer_s

    def check(self) -> None:
        """Raises: DatabaseHangs, RequestTooLong."""
        if self._breaker.is_open:
            self._breaker.check()
        if deadline.has_passed():
            raise RequestTooLong("the time of the read is over")

    def first_look_s(self) -> float:
        first_s = max(min(patience().suspect_s, deadline.left_s()), SHORTEST_S)
        return first_s if self._answer_s is None else min(first_s, self._answer_s)

    def look(self, waited_s: float) -> None:
        """Raises: DatabaseHangs, RequestTooLong, AnswerTooLate."""
        try:
            self.check()
        except RequestTooLong:
            BROKEN_OFF.labels(self._alias).inc()
            raise
        if waited_s >= (self._answer_s or patience().answer_s):
            raise AnswerTooLate(f"{self._alias} gave no answer in {waited_s:.1f} s")
        if waited_s >= patience().suspect_s:
            self._breaker.suspect()


class BoundedConnection(LimitedConnection):
    """A connection to a database of the settings."""

    @classmethod
    def connect(  # type: ignore[override]
        cls, *, alias: str, answer_s: float | None, **parameters: Any
    ) -> "BoundedConnection":
        """Raises: DatabaseHangs, AnswerTooLate, and psycopg's errors."""
        ordered = with_last_first(alias, parameters)
        breaker_of(alias).use_parameters(ordered)
        made = super(BoundedConnection, _class_of(alias, answer_s)).connect(**ordered)
        note_server(alias, parameters, made)
        return made


@cache
def _class_of(alias: str, answer_s: float | None) -> type[BoundedConnection]:
    limit = AnswerLimit(alias, breaker_of(alias), answer_s)
    return type("BoundedConnection", (BoundedConnection,), {"limit": limit})


# A standby that is not promoted yet, or a server whose disk is nearly full, refuses all writes. To
# psycopg this is an error of the program. It ends like an outage, so it is one for all callers.
OUT_OF_REACH = (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction)
# psycopg with another `connect`. Django looks here which of its errors it raises for one.
_PSYCOPG: Any = SimpleNamespace(
    **{**vars(psycopg), "connect": BoundedConnection.connect, "OperationalError": OUT_OF_REACH}
)


@contextmanager
def refusals_are_faults() -> Iterator[None]:
    """In the block a refused write is an error of the program: a dry run refuses them itself."""
    _PSYCOPG.OperationalError = psycopg.OperationalError
    try:
        yield
    finally:
        _PSYCOPG.OperationalError = OUT_OF_REACH


class DatabaseWrapper(base.DatabaseWrapper):
    Database = _PSYCOPG

    @cached_property
    def wrap_database_errors(self) -> MovesNoticed:
        return MovesNoticed(self)

    def get_connection_params(self) -> dict[str, Any]:
        parameters = super().get_connection_params()
        is_replica = parameters.pop("answer_s", None) is not None
        # A pool refuses parameters of a session: its role has them (infra/sharding/pooled).
        if not parameters.pop("is_pooled", False):
            own = session_parameters(is_replica).items()
            parameters["options"] = " ".join(
                [parameters.get("options", ""), *(f"-c {name}={value}" for name, value in own)]
            )
        parameters["prepare_threshold"] = PREPARED_AFTER
        parameters["cursor_factory"] = EndNoticingCursor
        return parameters

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        answer_s = self.settings_dict["OPTIONS"].get("answer_s")
        limited = conn_params | {"alias": self.alias, "answer_s": answer_s}
        connect = partial(super().get_new_connection, limited)
        made = connect_when_free(self.alias, connect, answer_s or patience().answer_s)
        made.prepared_max = MOST_PREPARED
        # A strong reference would be a cycle, and the connection would outlive its thread.
        me = cast(LimitedConnection, proxy(made))
        made.add_notice_handler(partial(note_unreplicated, me))
        made.add_notice_handler(partial(note_end, me))
        return made

    def prepared_cursor(self) -> CursorWrapper:
        """A cursor for statements that only differ in their parameters.

        After PREPARED_AFTER calls in a session, PostgreSQL parses a statement no more, and may keep
        its plan. The cursors of the ORM write all values into the text: it parses and plans each.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor = ServerBindingCursor(self.connection)  # type: ignore[call-arg]
            return self._prepare_cursor(cursor)  # type: ignore[attr-defined]

    def connect(self) -> None:
        """The whole connection or none, as `set_autocommit`."""
        try:
            super().connect()
        except BaseException:
            self.close()
            raise

    def set_autocommit(self, *arguments: Any, **options: Any) -> None:
        """Closes the connection if the change fails, because the database hangs.

        Otherwise the connection would begin a transaction at its next statement, and Django would
        not know: nothing would ever be committed, and what was written would be lost.
        """
        try:
            super().set_autocommit(*arguments, **options)
        except BaseException:
            if not self.in_atomic_block:  # where the change is refused, and the mode stays
                self.close()
            raise

    def ensure_connection(self) -> None:
        """Replaces a connection that ended. Threads without requests have no other moment for it.

        Not inside a transaction, which cannot go on in another session.
        """
        note_other_source()
        need_own_thread()
        self._drop_ended()
        super().ensure_connection()

    def close_if_health_check_failed(self) -> None:
        """Asks the database only if this session has been silent: to ask is a round trip.

        One that has answered lately is healthy, if the server has not ended it. That costs a system
        call, which `ensure_connection` makes next.
        """
        if self.connection is None or self.connection.answered_at < time.monotonic() - SILENT_S:
            super().close_if_health_check_failed()

    def close_if_unusable_or_obsolete(self) -> None:
        """Never connects: Django asks the connection for its mode, which would replace it."""
        self._drop_ended()
        super().close_if_unusable_or_obsolete()

    def give_back(self) -> None:
        """Call it after a use: closes the connection if the server has none left for others."""
        if is_scarce(self.alias) and self._is_free:
            self.close()

    def _drop_ended(self) -> None:
        if self.connection is not None and self._is_free and self.connection.has_ended:
            self.close()

    @property
    def _is_free(self) -> bool:
        return self.autocommit and not self.in_atomic_block
