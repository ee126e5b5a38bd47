"""Runs a job on one database after the other, and leaves out those that do not answer.

A database that hangs or is down must not keep a job from the rows of the others.

Jobs of several passes over rows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import structlog

from infra.jobs.types import Batch, Work
from infra.sharding.errors import NO_ANSWER
from infra.sharding.probe import error_line

log = structlog.get_logger()


def run_by_database(
    work: Work, job: Callable[[Work], Iterator[Batch]], left_out: dict[str, str]
) -> Iterator[Batch]:
    """The batches of the job on each database. Positions name the database and the position in it.

    `left_out` gets each database on which the job met NO_ANSWER, with the error in one line. A job
    that reads other shards also meets it when one of those does not answer. Rows of the earlier
    batches are done. Safety: as the job, which may run on these rows once more.
    """
    begun, at = _find_start(work)
    left = work.limit
    for alias in work.aliases[begun:]:
        part = work._replace(aliases=[alias], after=at, limit=left)
        at = None
        try:
            for batch in job(part):
                left = left and max(left - batch.done - batch.failed, 0)
                yield batch._replace(position=_position(alias, batch))
        except NO_ANSWER as error:
            left_out[alias] = error_line(error)
            log.warning("jobs.database_left_out", alias=alias, error=left_out[alias])


def _find_start(work: Work) -> tuple[int, Any]:
    """The number of the database to begin with, and the position in it.

    It begins again if the position is of an earlier release, or of a database that is gone.
    """
    after = work.after or {}
    if after.get("database") not in work.aliases:
        return 0, None
    return work.aliases.index(after["database"]), after["at"]


def _position(alias: str, batch: Batch) -> dict[str, Any] | None:
    return None if batch.position is None else {"database": alias, "at": batch.position}


Pass = Callable[[Work], Iterator[Batch]]


def in_turn(work: Work, *passes: Pass) -> Iterator[Batch]:
    """Runs one pass after the other as one job. Positions name the pass and the position in it."""
    begun = work.after or {"pass": 0, "at": None}
    for number in range(begun["pass"], len(passes)):
        after = begun["at"] if number == begun["pass"] else None
        for batch in passes[number](work._replace(after=after)):
            yield batch._replace(position={"pass": number, "at": batch.position})
