"""The lease on a lane: one drainer at a time, with a fencing token and a heartbeat.

Another drainer takes the lease over at once when the database session of its holder has ended, and
after LEASE_S when the holder hangs. Consumers may run twice, so the lease only saves work:
nothing depends on it to be correct.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from django.db import connections

from infra.changes.errors import UNREACHABLE, LeaseLost
from infra.sharding.sql import execute, fetch_one

LEASE_S = 15
BEAT_EVERY_S = LEASE_S / 3
MAX_BEATS = 120  # ten minutes
log = structlog.get_logger()

ACQUIRE = """
INSERT INTO changes_drainlease AS lease (lane, token, backend_pid, backend_start, expires_at)
SELECT %(lane)s, 1, pid, backend_start, clock_timestamp() + %(ttl)s * interval '1 second'
FROM pg_stat_activity WHERE pid = pg_backend_pid()
ON CONFLICT (lane) DO UPDATE SET
    token = lease.token + 1,
    backend_pid = excluded.backend_pid,
    backend_start = excluded.backend_start,
    expires_at = excluded.expires_at
WHERE lease.expires_at < clock_timestamp() OR NOT EXISTS (
    SELECT FROM pg_stat_activity a
    WHERE a.pid = lease.backend_pid AND a.backend_start = lease.backend_start
)
RETURNING token
"""
RENEW = """
UPDATE changes_drainlease SET expires_at = clock_timestamp() + %s * interval '1 second'
WHERE lane = %s AND token = %s AND expires_at > '-infinity'
"""
RELEASE = "UPDATE changes_drainlease SET expires_at = '-infinity' WHERE lane = %s AND token = %s"


@contextmanager
def lease(alias: str, lane: int) -> Iterator[int | None]:
    """Yields the fencing token, or None when another drainer holds the lease."""
    row = fetch_one(alias, ACQUIRE, {"lane": lane, "ttl": LEASE_S})
    if row is None:
        yield None
        return
    try:
        yield row[0]
    finally:
        _release(alias, lane, row[0])


def _release(alias: str, lane: int, token: int) -> None:
    """An unreachable database is only logged: the lease ends with the session anyway."""
    try:
        execute(alias, RELEASE, (lane, token))
    except UNREACHABLE as error:
        log.warning("lease.not_released", alias=alias, lane=lane, error=str(error))


def renew(alias: str, lane: int, token: int) -> None:
    """Keeps the lease for LEASE_S more. Inside a transaction it also fences the commit.

    Raises: LeaseLost; the drainer must stop, and its batch stays pending.
    """
    if not execute(alias, RENEW, (LEASE_S, lane, token)):
        raise LeaseLost(f"lane {lane} of {alias}, token {token}")


@contextmanager
def heartbeat(alias: str, lane: int, token: int) -> Iterator[None]:
    """Renews the lease from a thread while the block runs, for MAX_BEATS at most.

    Without it, a slow batch would be taken over and started again by one drainer after another, and
    would never be filed. A process that hangs does not renew its lease.
    Cost: a thread. It connects to the database only when the block lasts BEAT_EVERY_S.
    """
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(alias, lane, token, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _beat(alias: str, lane: int, token: int, ended: threading.Event) -> None:
    try:
        for _ in range(MAX_BEATS):
            if ended.wait(BEAT_EVERY_S):
                return
            renew(alias, lane, token)
    except (LeaseLost, *UNREACHABLE) as error:
        log.warning("lease.not_renewed", alias=alias, lane=lane, error=str(error))
    finally:
        connections.close_all()
