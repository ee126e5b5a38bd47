"""The locks and the row of a job run, also after its process died.

Each run has its own session on the default database. The session holds the locks, so kill -9 frees
them. It also writes the row, so a dry run and the transactions of the job do not affect the row.

What distinguishes the runs of one job: the parts that they lock, and their options.
"""

import os
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import structlog
from django.db import connections

from infra.jobs.errors import AlreadyRunning, RunLost, RunNotRecorded
from infra.jobs.flags import JobFlag
from infra.jobs.models import JobRun
from infra.jobs.types import Tally, Work
from infra.sharding.bounded.base import BoundedConnection
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import error_line
from infra.sharding.sql import execute


def list_lock_parts(work: Work, flags: Collection[JobFlag]) -> list[str]:
    """The parts that a run locks: one account, each of its databases, or the whole job.

    A run for one account does not lock the shard, so it need not wait for a long run on the shard.
    """
    if work.account_id is not None:
        return [f"account {work.account_id}"]
    return list(work.aliases) if JobFlag.SHARD in flags else [""]


def describe_options(
    options: Mapping[str, Any], defaults: Mapping[str, Any], names: Iterable[str]
) -> str:
    """The named options that are not at their default, as `name=value`, sorted by name."""
    given = [
        f"{name}={_shown(options[name])}"
        for name in sorted(names)
        if options[name] != defaults[name]
    ]
    return make_storable(" ".join(given))


def _shown(value: Any) -> str:
    return "yes" if value is True else str(value)


def make_storable(text: str) -> str:
    """Escapes NUL and single surrogates. PostgreSQL refuses both, and file names may have them."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


KEEP_DAYS = 180
ERROR_CHARACTERS = 2_000
log = structlog.get_logger()

# A run that was killed just now may still have its locks, so a new run waits for one second. The
# keepalives free the locks of a lost machine within a minute. Between two reports the session is
# idle, and keeps its locks. A report need not reach the disk before the next batch.
PREPARE = """
SET timezone = 'UTC'; SET lock_timeout = '1s'; SET synchronous_commit = off;
SET idle_session_timeout = 0;
SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3
"""
LOCK = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
# The advisory locks of all sessions on this database that have a single bigint as their key.
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
# A run writes its end state before it frees its lock, so a finished run is never marked as died.
MARK_DIED = f"""
UPDATE jobs_jobrun AS run SET state = 'died', finished_at = reported_at
WHERE state = 'running'
    AND hashtextextended('job run ' || run.id, 0) NOT IN (SELECT key FROM ({LOCKS}) AS held)
"""  # noqa: S608
DELETE_OLD = """
DELETE FROM jobs_jobrun WHERE started_at < now() - %s * interval '1 day' AND state <> 'running'
"""
# One statement, so that the row is locked before others can see it.
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
    """A run with its row and its locks."""

    def __init__(self, session: Session, run_id: int) -> None:
        self._session = session
        self.id = run_id

    def report(self, tally: Tally) -> None:
        """Writes the counts to the row. Raises: RunLost; then the run must end. One round trip."""
        try:
            counts = (tally.done, tally.failed, tally.changed)
            self._session.execute(REPORT, (*counts, self.id))
        except psycopg.OperationalError as error:
            raise RunLost(f"run {self.id}: {error}") from error

    def finish(self, state: JobRun.State, error: str = "") -> None:
        """Writes the end state. If the session is lost, the next run marks this one as died."""
        try:
            self._session.execute(FINISH, (state, make_storable(error)[:ERROR_CHARACTERS], self.id))
        except psycopg.Error as lost:
            log.warning("jobs.run_not_finished", run=self.id, error=str(lost))


class UnrecordedRun:
    """The run of a job without an end: it has no row and no locks."""

    def report(self, tally: Tally) -> None: ...

    def finish(self, state: JobRun.State, error: str = "") -> None: ...


@contextmanager
def recorded_run(job: str, parts: Sequence[str], flags: str, dry_run: bool) -> Iterator[Run]:
    """Locks the parts of the job and writes a row of the run, which the caller finishes.

    An exception of the block is recorded as the error of the run. All runs must pass the parts in
    the same order. Raises: AlreadyRunning, after a second; RunNotRecorded. Cost: a connection to
    the default database.
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
    """Marks the runs of all jobs whose process has died; returns how many. One query.

    Every run calls it at its start. Call it before you show runs.
    """
    return execute(GLOBAL_ALIAS, MARK_DIED)


@contextmanager
def _session() -> Iterator[Session]:
    """A separate session, because a dry run or an error changes the connections of Django."""
    parameters = connections[GLOBAL_ALIAS].get_connection_params()
    try:
        session = BoundedConnection.connect(
            alias=GLOBAL_ALIAS, answer_s=None, autocommit=True, **parameters
        )
    except psycopg.OperationalError as error:
        raise RunNotRecorded(f"no run without {GLOBAL_ALIAS}: {error_line(error)}") from error
    with session:
        session.execute(PREPARE)
        yield session


def _lock(session: Session, job: str, part: str) -> None:
    key = f"job {job} {part}"
    try:
        session.execute(LOCK, (key,))
    except psycopg.errors.LockNotAvailable:
        holder = session.execute(HOLDER, (key,)).fetchone()
        raise AlreadyRunning(_refusal(job, part, holder)) from None


def _refusal(job: str, part: str, holder: tuple[Any, ...] | None) -> str:
    what = f"{job} {f'({part}) ' if part else ''}runs already"
    if holder is None:  # the other run is about to write its row, or to end
        return what
    run_id, flags, host, pid, started_at = holder
    since = f"since {started_at:%Y-%m-%d %H:%M:%S %Z}"
    return f"{what}: run {run_id}{f' {flags}' if flags else ''}, process {pid} on {host}, {since}"
