"""The findings of an audit: differences, the repairs of them, and the batch that reports both."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from infra.api.errors import NotFound
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece

MOST_COMPARISONS = 20
COMPARE_EVERY_S = 0.1
# The help of a flag that several audits have.
RESTORED_WINS = "undo writes that a restored shard lost, instead of writing them again"
Pause = Callable[[float], bool]
T = TypeVar("T")


class AuditFinding(NamedTuple):
    """A difference. `line` is for people; `repair` None: nothing here can or need repair it."""

    line: str
    repair: Callable[[], Any] | None = None


def report_findings(
    work: Work, piece: Piece, findings: Sequence[AuditFinding], repair: bool
) -> Batch:
    """The batch of a piece, after the repairs that it may do. What is left counts as failed."""
    repaired = 0
    lines = []
    for finding in findings:
        is_repaired = repair and not work.dry_run and _is_repaired(finding)
        repaired += is_repaired
        lines.append(f"{finding.line}{': repaired' if is_repaired else ''}")
    left = len(findings) - repaired
    would = sum(finding.repair is not None for finding in findings)
    changed = (would if work.dry_run else repaired) if repair else None
    return Batch(len(piece.rows) - left, left, piece.alias, changed, piece.position, lines)


def _is_repaired(finding: AuditFinding) -> bool:
    """False when the repair is impossible: rows of an account that does not exist stay."""
    if finding.repair is None:
        return False
    try:
        finding.repair()
    except NotFound:
        return False
    return True


def compare_again(
    rows: Iterable[T], differing: Callable[[Sequence[T]], Sequence[T]], pause: Pause
) -> list[T]:
    """Those of the rows that still differ after two seconds, or when the run shall stop.

    `differing` reads both sides as they are now. A difference that a pending change explains is
    gone when the drain has delivered it. Cost: `differing` up to MOST_COMPARISONS times, and once
    if nothing differs.
    """
    left = list(rows)
    for turn in range(MOST_COMPARISONS):
        if not left or (turn and not pause(COMPARE_EVERY_S)):
            break
        left = list(differing(left))
    return left
