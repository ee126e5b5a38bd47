"""A database server that has no connection left. Processes then share what there is.

Processes keep their connections, so those that were busy first could have all of a small server. A
process that is refused one waits and asks again. For SCARCE_S it also closes its connections to
this database after each use, and they are free for all.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import psycopg
from prometheus_client import Counter

from infra.telemetry.reached_branches import reached

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
