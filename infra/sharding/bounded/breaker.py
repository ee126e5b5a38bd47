"""A breaker for each database: a database that hangs costs a process one short wait.

closed     every use goes through. A thread that waits for long calls `suspect`: a probe asks the
           database on a connection of its own.
open       the probe had no answer. Every use raises DatabaseHangs at once, and so do the waits in
           progress. The probe goes on, and its first answer closes the breaker.

A database that is down refuses at once, so it needs no breaker.

A database server that has no connection left. Processes then share what there is.

Processes keep their connections, so those that were busy first could have all of a small server. A
process that is refused one waits and asks again. For SCARCE_S it also closes its connections to
this database after each use, and they are free for all.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import psycopg
import structlog
from prometheus_client import Counter

from infra.sharding.bounded.limits import LOOK_EVERY_S, LimitedConnection
from infra.sharding.bounded.wait_limits import patience
from infra.sharding.errors import DatabaseHangs
from infra.telemetry.gauges import process_gauge
from infra.telemetry.reached_branches import reached

# A database that answered a probe is not probed again for so long.
TRUST_S = 0.5
# An open breaker: the longest wait of one probe, and the pause after a probe that failed at once.
REOPEN_S = 0.5
PAUSE_S = 0.1
OPEN = process_gauge(
    "tideline_database_breaker_open",
    "Processes that found the database to hang, and ask it until it answers",
    ["shard"],
    combine="sum",
)
OPENINGS = Counter(
    "tideline_database_breaker_openings_total",
    "Times that a process found the database to hang",
    ["shard"],
)
log = structlog.get_logger()


class DatabaseBreaker:
    """The breaker of one database in this process. Threads share it."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._parameters: Mapping[str, Any] = {}
        self.reset()

    def reset(self) -> None:
        """Closes the breaker and forgets the probe, which a forked process does not have."""
        self.is_open = False
        self._changing = threading.Lock()
        self._prober: threading.Thread | None = None
        self._trusted_until = 0.0

    def use_parameters(self, parameters: Mapping[str, Any]) -> None:
        """A probe connects with the parameters of the last connection."""
        self._parameters = {**parameters, "autocommit": True}

    def check(self) -> None:
        """Raises DatabaseHangs while the breaker is open."""
        if self.is_open:
            raise DatabaseHangs(f"{self._alias} does not answer")

    def suspect(self) -> None:
        """Begins a probe, unless there is one or the last one was answered a moment ago."""
        if self._prober is not None or time.monotonic() < self._trusted_until:
            return
        with self._changing:
            if self._prober is None:
                name = f"database-probe-{self._alias}"
                self._prober = threading.Thread(target=self._probe, name=name, daemon=True)
                self._prober.start()

    def _probe(self) -> None:
        """Asks until the database answers."""
        me, limit_s = threading.current_thread(), patience().probe_s
        while self._prober is me and not self._is_answering(limit_s):
            self._turn(me, is_open=True)
            limit_s = REOPEN_S
        self._turn(me, is_open=False)

    def _turn(self, prober: threading.Thread, is_open: bool) -> None:
        """Opens or closes the breaker, unless it was reset since the prober began."""
        with self._changing:
            if self._prober is not prober:
                return
            was_open, self.is_open = self.is_open, is_open
            if not is_open:
                self._prober, self._trusted_until = None, time.monotonic() + TRUST_S
        if was_open != is_open:
            self._report(is_open)

    def _report(self, is_open: bool) -> None:
        OPEN.labels(self._alias).set(is_open)
        if is_open:
            reached("database.breaker_opened")
            OPENINGS.labels(self._alias).inc()
            log.warning("database.breaker_opened", alias=self._alias)
        else:
            log.info("database.breaker_closed", alias=self._alias)

    def _is_answering(self, limit_s: float) -> bool:
        """Whether the server says anything in time, also that it cannot serve us now."""
        try:
            with _probing(limit_s).connect(**self._parameters) as connection:
                connection.execute("SELECT 1")
        except psycopg.Error as error:
            if "FATAL" in str(error):
                return True
            time.sleep(PAUSE_S)
            return False
        except Exception:
            # The thread must not end while the breaker is open, and without it the limits hold.
            log.exception("database.probe_failed", alias=self._alias)
        return True


class ProbeLimit:
    """The limit of one probe: connecting and asking, together."""

    def __init__(self, limit_s: float) -> None:
        self._deadline = time.monotonic() + limit_s

    def check(self) -> None: ...

    def first_look_s(self) -> float:
        return LOOK_EVERY_S

    def look(self, waited_s: float) -> None:
        if time.monotonic() > self._deadline:
            raise psycopg.errors.ConnectionTimeout("the probe has no answer")


def _probing(limit_s: float) -> type[LimitedConnection]:
    return type("ProbeConnection", (LimitedConnection,), {"limit": ProbeLimit(limit_s)})


@cache
def breaker_of(alias: str) -> DatabaseBreaker:
    """The breaker of this database in this process."""
    breaker = _BREAKERS[alias] = DatabaseBreaker(alias)
    return breaker


_BREAKERS: dict[str, DatabaseBreaker] = {}


def reset_breakers() -> None:
    """Closes all breakers: in a forked process, and in tests that change servers."""
    for breaker in list(_BREAKERS.values()):
        breaker.reset()


os.register_at_fork(after_in_child=reset_breakers)

T = TypeVar("T")
SCARCE_S = 30.0
ASK_EVERY_S = 0.05
# psycopg has no error code for a connection that failed.
_REFUSALS = (
    "too many clients",
    "too many connections",
    "remaining connection slots",
    "no more connections allowed",  # of PgBouncer
)
REFUSED = Counter(
    "tideline_database_connections_refused_total",
    "Attempts to connect that found no connection left",
    ["shard"],
)
_scarce_until: dict[str, float] = {}


def was_ever_scarce() -> bool:
    """False: this process was never refused a connection. Cost: one comparison."""
    return bool(_scarce_until)


def is_scarce(alias: str) -> bool:
    """Whether this process was refused a connection to this database in the last SCARCE_S."""
    return time.monotonic() < _scarce_until.get(alias, 0.0)


def connect_when_free(alias: str, connect: Callable[[], T], wait_s: float) -> T:
    """The connection. Waits for a free one, for `wait_s` at most.

    Raises: what `connect` raises; psycopg.OperationalError if none is free after `wait_s`.
    """
    give_up_s = time.monotonic() + wait_s
    while True:
        try:
            return connect()
        except psycopg.OperationalError as error:
            if not any(refusal in str(error) for refusal in _REFUSALS):
                raise
            _note_refusal(alias)
            if time.monotonic() + ASK_EVERY_S > give_up_s:
                raise
        time.sleep(ASK_EVERY_S)


def _note_refusal(alias: str) -> None:
    reached("database.connection_refused")
    REFUSED.labels(alias).inc()
    _scarce_until[alias] = time.monotonic() + SCARCE_S
