"""The leases on lanes: one drainer a lane at a time, with a fencing token and a heartbeat.

Another drainer takes a lease over at once when the database session of its holder has ended, and
after LEASE_S when the holder hangs. Consumers may run twice, so a lease only saves work:
nothing depends on it to be correct.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog
from django.db import connections

from infra.changes.errors import UNREACHABLE, LeaseLost
from infra.sharding.sql import execute, fetch_all

LEASE_S = 15
BEAT_EVERY_S = LEASE_S / 3
MAX_BEATS = 120  # ten minutes
Tokens = Mapping[int, int]  # the fencing token of each lane that is held
log = structlog.get_logger()

# The session of a holder must not end because it is idle while consumers work on other shards.
ACQUIRE = """
INSERT INTO changes_drainlease AS lease (lane, token, backend_pid, backend_start, expires_at)
SELECT lane, 1, pid, backend_start, clock_timestamp() + %(ttl)s * interval '1 second'
FROM pg_stat_activity, unnest(%(lanes)s::smallint[]) AS wanted (lane)
WHERE pid = pg_backend_pid() ORDER BY lane
ON CONFLICT (lane) DO UPDATE SET
    token = lease.token + 1,
    backend_pid = excluded.backend_pid,
    backend_start = excluded.backend_start,
    expires_at = excluded.expires_at
WHERE lease.expires_at < clock_timestamp() OR NOT EXISTS (
    SELECT FROM pg_stat_activity a
    WHERE a.pid = lease.backend_pid AND a.backend_start = lease.backend_start
)
RETURNING lane, token, set_config('idle_session_timeout', '0', false)
"""
# In the order of lanes: the drainer's other thread files rows at the same time.
RENEW = """
WITH locked AS (
    SELECT lease.lane FROM changes_drainlease AS lease
    JOIN unnest(%s::smallint[], %s::bigint[]) AS held (lane, token)
        ON lease.lane = held.lane AND lease.token = held.token
    WHERE lease.expires_at > '-infinity' ORDER BY lease.lane FOR NO KEY UPDATE OF lease
)
UPDATE changes_drainlease AS lease
SET expires_at = clock_timestamp() + %s * interval '1 second'
FROM locked WHERE lease.lane = locked.lane
"""
RELEASE = """
UPDATE changes_drainlease AS lease SET expires_at = '-infinity'
FROM unnest(%s::smallint[], %s::bigint[]) AS held (lane, token)
WHERE lease.lane = held.lane AND lease.token = held.token
RETURNING set_config('idle_session_timeout',
    (SELECT reset_val FROM pg_settings WHERE name = 'idle_session_timeout'), false)
"""


@contextmanager
def lease(alias: str, lanes: Sequence[int]) -> Iterator[Tokens]:
    """Yields the tokens of the lanes that no other drainer holds. Releases them at the end.

    Cost: a statement at each end.
    """
    rows = fetch_all(alias, ACQUIRE, {"lanes": [*lanes], "ttl": LEASE_S})
    tokens: Tokens = {lane: token for lane, token, _ in rows}
    try:
        yield tokens
    finally:
        if tokens:
            _release(alias, tokens)


def _release(alias: str, tokens: Tokens) -> None:
    """An unreachable database is only logged: the leases end with the session anyway."""
    try:
        execute(alias, RELEASE, ([*tokens], [*tokens.values()]))
    except UNREACHABLE as error:
        log.warning("lease.not_released", alias=alias, lanes=[*tokens], error=str(error))


def renew(alias: str, tokens: Tokens) -> None:
    """Keeps the leases for LEASE_S more. One statement.

    Raises: LeaseLost if one of them is lost; the drainer must stop, and its batch stays pending.
    """
    if execute(alias, RENEW, ([*tokens], [*tokens.values()], LEASE_S)) < len(tokens):
        raise LeaseLost(f"lanes {[*tokens]} of {alias}, tokens {[*tokens.values()]}")


class Heartbeat:
    """Renews leases from a thread, for MAX_BEATS after the last progress of the drainer.

    Without it, a slow batch would be taken over and started again by one drainer after another, and
    would never be filed. A process that hangs does not renew its leases.
    Cost: a thread. It connects to the database when it runs for BEAT_EVERY_S.
    """

    def __init__(self, alias: str, tokens: Tokens) -> None:
        self._alias, self._tokens, self._beats = alias, tokens, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease-heartbeat", daemon=True)

    @property
    def is_beating(self) -> bool:
        """False when the leases were lost, or can no longer be renewed."""
        return self._thread.is_alive()

    def progress(self) -> None:
        """The drainer is not stuck: MAX_BEATS starts again."""
        self._beats = 0

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._beats < MAX_BEATS and not self._ended.wait(BEAT_EVERY_S):
                renew(self._alias, self._tokens)
                self._beats += 1
        except (LeaseLost, *UNREACHABLE) as error:
            log.warning("lease.not_renewed", alias=self._alias, error=str(error))
        finally:
            connections.close_all()
