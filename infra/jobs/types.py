"""The values of a job: what a run is asked to do, what a batch reports, what a run adds up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

BATCH_SIZE = 500


class Batch(NamedTuple):
    """A piece of work that is committed; in a dry run, one that has been looked at."""

    done: int
    failed: int = 0
    # A word for the progress line.
    note: str = ""
    # How many rows differ now, or would; None: the job cannot tell.
    changed: int | None = None
    # Plain JSON: what `Work.after` has to be for the next run to go on behind this batch.
    position: Any = None
    # A line for each thing changed, or that would change, or failed.
    details: Sequence[str] = ()


class Work(NamedTuple):
    """What one run is to do. `Work(["shard0"])` is all of that shard, from the beginning."""

    aliases: Sequence[str]
    account_id: int | None = None
    limit: int | None = None
    batch_size: int = BATCH_SIZE
    # The position of the last batch of a run that was cut short.
    after: Any = None
    # The same path without the writes; a write to a database fails then (infra.jobs.read_only).
    dry_run: bool = False


@dataclass
class Tally:
    """The sum of a run's batches."""

    done: int = 0
    failed: int = 0
    changed: int | None = None

    @property
    def rows(self) -> int:
        return self.done + self.failed

    def add(self, batch: Batch) -> None:
        self.done += batch.done
        self.failed += batch.failed
        if batch.changed is not None:
            self.changed = (self.changed or 0) + batch.changed
