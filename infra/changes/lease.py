"""Who may drain a lane: an owned lease with a fencing token.

Taken over at once when its holder's database session is gone, and after LEASE_S when the holder
hangs. Correctness does not depend on it (consumers may run twice); it saves double work.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from infra.changes.errors import UNREACHABLE, LeaseLost
from infra.sharding.sql import execute, fetch_one

LEASE_S = 15
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
    """Yields the fencing token, or None when another live drainer holds the lane."""
    row = fetch_one(alias, ACQUIRE, {"lane": lane, "ttl": LEASE_S})
    if row is None:
        yield None
        return
    try:
        yield row[0]
    finally:
        _release(alias, lane, row[0])


def _release(alias: str, lane: int, token: int) -> None:
    """With the database gone the lease is free already; what ended the drain is the news."""
    try:
        execute(alias, RELEASE, (lane, token))
    except UNREACHABLE as error:
        log.warning("lease.not_released", alias=alias, lane=lane, error=str(error))


def renew(alias: str, lane: int, token: int) -> None:
    """Keeps the lease for LEASE_S more; inside a transaction it also fences the commit.

    Raises: LeaseLost, and the drainer stops: its batch stays pending.
    """
    if not execute(alias, RENEW, (LEASE_S, lane, token)):
        raise LeaseLost(f"lane {lane} of {alias}, token {token}")
