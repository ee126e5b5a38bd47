"""One run of a job: its locks, its row, and what becomes of both when its process dies.

A run has a session of its own on the default database. The session holds the locks, so that
kill -9 frees them, and it writes the row, so that neither a dry run nor a transaction of the job
gets in its way.
"""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import structlog
from django.db import connections

from infra.jobs.errors import AlreadyRunning, RunLost
from infra.jobs.models import JobRun
from infra.jobs.scope import make_storable
from infra.jobs.types import Tally
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute

KEEP_DAYS = 180
ERROR_CHARACTERS = 2_000
log = structlog.get_logger()

# A copy that was killed a moment ago still has its locks, so a second is waited. The keepalives
# free those of a machine that vanished within a minute. What a run says of itself need not be on
# disk before its next batch.
PREPARE = """
SET timezone = 'UTC'; SET lock_timeout = '1s'; SET synchronous_commit = off;
SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3
"""
LOCK = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
# The locks of all sessions on this database that were taken by a single bigint, as ours are.
LOCKS = """
SELECT pid, (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
HOLDER = f"""
WITH held AS MATERIALIZED ({LOCKS})
SELECT run.id, run.flags, run.host, run.pid, run.started_at FROM held AS part
JOIN held AS own ON own.pid = part.pid
JOIN jobs_jobrun AS run ON hashtextextended('job run ' || run.id, 0) = own.key
WHERE part.key = hashtextextended(%s, 0) AND run.state = 'running'
"""  # noqa: S608 - of constants
# A run that ends writes its state before its lock is gone, so it is never taken for dead.
MARK_DIED = f"""
UPDATE jobs_jobrun AS run SET state = 'died', finished_at = reported_at
WHERE state = 'running'
    AND hashtextextended('job run ' || run.id, 0) NOT IN (SELECT key FROM ({LOCKS}) AS held)
"""  # noqa: S608
DELETE_OLD = """
DELETE FROM jobs_jobrun WHERE started_at < now() - %s * interval '1 day' AND state <> 'running'
"""
# In one statement: nobody sees the row before it is locked.
INSERT_RUN = """
WITH run AS (
    INSERT INTO jobs_jobrun (job, flags, dry_run, state, host, pid)
    VALUES (%s, %s, %s, 'running', %s, %s) RETURNING id
)
SELECT id, pg_advisory_lock(hashtextextended('job run ' || id, 0)) FROM run
"""
REPORT = """
UPDATE jobs_jobrun SET done = %s, failed = %s, changed = %s, reported_at = now() WHERE id = %s
"""
FINISH = """
UPDATE jobs_jobrun SET state = %s, error = %s, reported_at = now(), finished_at = now()
WHERE id = %s
"""

Session = psycopg.Connection[Any]


class Run:
    """A run that is recorded and holds its locks."""

    def __init__(self, session: Session, run_id: int) -> None:
        self._session = session
        self.id = run_id

    def report(self, tally: Tally) -> None:
        """Says how far it is. Raises: RunLost, and the run has to end. One round trip."""
        try:
            counts = (tally.done, tally.failed, tally.changed)
            self._session.execute(REPORT, (*counts, self.id))
        except psycopg.OperationalError as error:
            raise RunLost(f"run {self.id}: {error}") from error

    def finish(self, state: JobRun.State, error: str = "") -> None:
        """A session that is gone already is no news: the next run marks this one as died."""
        try:
            self._session.execute(FINISH, (state, make_storable(error)[:ERROR_CHARACTERS], self.id))
        except psycopg.Error as lost:
            log.warning("jobs.run_not_finished", run=self.id, error=str(lost))


class UnrecordedRun:
    """A run that leaves no trace: what goes on for ever."""

    def report(self, tally: Tally) -> None: ...

    def finish(self, state: JobRun.State) -> None: ...


@contextmanager
def recorded_run(job: str, parts: Sequence[str], flags: str, dry_run: bool) -> Iterator[Run]:
    """Locks each part of the job and keeps a row of the run; the caller finishes it.

    What the block raises is recorded as the run's error. The parts must come in one order, always.
    Raises: AlreadyRunning, after a second. Cost: one connection to the default database.
    """
    with _session() as session:
        for part in parts:
            _lock(session, job, part)
        mark_died_runs()
        session.execute(DELETE_OLD, (KEEP_DAYS,))
        whose = (socket.gethostname(), os.getpid())
        row = session.execute(INSERT_RUN, (job, flags, dry_run, *whose)).fetchone()
        run = Run(session, row[0])  # type: ignore[index]  # an INSERT returns its row
        try:
            yield run
        except KeyboardInterrupt:
            run.finish(JobRun.State.STOPPED)
            raise
        except BaseException as error:
            run.finish(JobRun.State.FAILED, f"{type(error).__name__}: {error}")
            raise


def mark_died_runs() -> int:
    """Marks the runs whose process is gone, of any job; returns how many. One query.

    Every run does it when it begins; call it before you show runs.
    """
    return execute(GLOBAL_ALIAS, MARK_DIED)


@contextmanager
def _session() -> Iterator[Session]:
    """Not one of Django's connections: no dry run, no broken statement may end or change it."""
    parameters = connections[GLOBAL_ALIAS].get_connection_params()
    with psycopg.connect(**parameters, autocommit=True) as session:
        session.execute(PREPARE)
        yield session


def _lock(session: Session, job: str, part: str) -> None:
    key = f"job {job} {part}"
    try:
        session.execute(LOCK, (key,))
    except psycopg.errors.LockNotAvailable:
        found = session.execute(HOLDER, (key,)).fetchone()
        raise AlreadyRunning(_refusal(job, part, found)) from None


def _refusal(job: str, part: str, holder: tuple[Any, ...] | None) -> str:
    what = f"{job} {f'({part}) ' if part else ''}runs already"
    if holder is None:  # it is about to write its row, or to end
        return what
    run_id, flags, host, pid, started_at = holder
    since = f"since {started_at:%Y-%m-%d %H:%M:%S %Z}"
    return f"{what}: run {run_id}{f' {flags}' if flags else ''}, process {pid} on {host}, {since}"
