"""The values of a job: the work of a run, the report of a batch, the sum of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

BATCH_SIZE = 500


class Batch(NamedTuple):
    """The report of one piece of work, after its commit. A dry run reports what it would do."""

    done: int
    failed: int = 0
    # A word for the progress line.
    note: str = ""
    # How many rows changed, or would change; None: the job cannot tell.
    changed: int | None = None
    # Plain JSON: the value of `Work.after` with which the next run continues after this batch.
    position: Any = None
    # A line for each row that changed, would change, or failed.
    details: Sequence[str] = ()


class Work(NamedTuple):
    """The work of one run. `Work(["shard0"])` is all rows of that shard, from the first one."""

    aliases: Sequence[str]
    account_id: int | None = None
    limit: int | None = None
    batch_size: int = BATCH_SIZE
    # The position of the last batch of an earlier run that did not finish.
    after: Any = None
    # The same path without writes. A write to a database then fails (infra.jobs.command).
    dry_run: bool = False


@dataclass
class Tally:
    """The sum of a run's batches."""

    done: int = 0
    failed: int = 0
    changed: int | None = None
    # The databases that did not answer, and why.
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return self.done + self.failed

    def add(self, batch: Batch) -> None:
        self.done += batch.done
        self.failed += batch.failed
        if batch.changed is not None:
            self.changed = (self.changed or 0) + batch.changed

    def as_json(self, job: str, dry_run: bool, code: int) -> dict[str, Any]:
        """The result that --json prints. `changed` is None when the job cannot tell."""
        return {
            "job": job,
            "dry_run": dry_run,
            "done": self.done,
            "changed": self.changed,
            "failed": self.failed,
            "left_out": self.left_out,
            "exit": code,
        }

    def as_sentence(self, dry_run: bool, unit: str) -> str:
        """The result that a person reads."""
        done = f"{self.done:,} {unit} {'looked at' if dry_run else 'done'}"
        would = "would change" if dry_run else "changed"
        changed = "" if self.changed is None else f", {self.changed:,} {would}"
        left_out = f", not all: left out {', '.join(self.left_out)}" if self.left_out else ""
        return f"{done}{changed}, {self.failed:,} failed{left_out}"

    def left_out_lines(self) -> list[str]:
        """A line for each database that was left out."""
        return [f"{alias} was left out: {why}" for alias, why in self.left_out.items()]
