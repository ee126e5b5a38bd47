"""Audits: what is compared with what is declared, and one engine walks, reports and repairs."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

from infra.jobs.by_database import in_turn
from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS, AuditFinding, Pause, report_findings
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece, Table, walk_table

# What happened later may still wait in the change table.
UNSETTLED_MS = 60_000


class AuditRun(NamedTuple):
    """How an audit runs. `pause(seconds)` waits for pending changes; False: the run shall stop.

    `restored_wins`: what a restored shard lost is undone on the other side, instead of written
    again. `unsettled_ms`: for how long what happened may be under way.
    """

    pause: Pause
    repair: bool = False
    restored_wins: bool = False
    unsettled_ms: int = UNSETTLED_MS


@dataclass(frozen=True)
class Derived:
    """Rows that are derived from others, or from which others are.

    `judge`: how rows of a piece differ from the other side, as both are now; correct while writes
    go on. A repair is idempotent.
    """

    rows: Table
    judge: Callable[[Piece, AuditRun], Iterable[AuditFinding]]
    walk: Callable[[Work, Table], Iterator[Piece]] = walk_table

    def __call__(self, run: AuditRun, work: Work) -> Iterator[Batch]:
        for piece in self.walk(work, self.rows):
            yield report_findings(work, piece, [*self.judge(piece, run)], run.repair)


AuditPass = Callable[[AuditRun, Work], Iterator[Batch]]


class AuditCommand(JobCommand):
    """A subclass names its `passes`, in their order. A difference that is left is a failed row."""

    flags = WALK
    passes: ClassVar[Sequence[AuditPass]]
    has_restored_wins: ClassVar[bool] = False
    # Whether the tables have few rows besides those that are walked.
    has_total: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        left = "Differences that are not repaired count as failed, so the exit code is 1."
        cls.help = f"{cls.help} {left}"
        if cls.has_total:
            cls.total_of = [each.rows for each in cls.passes if isinstance(each, Derived)]

    @classmethod
    def compare(cls, work: Work, run: AuditRun) -> Iterator[Batch]:
        """A batch for each piece of each pass. Cost: as the passes."""
        return in_turn(work, *(partial(each, run) for each in cls.passes))

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")
        if self.has_restored_wins:
            parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        wins = options.get("restored_wins", False)
        return self.compare(work, AuditRun(self.pause, options["repair"], wins))
