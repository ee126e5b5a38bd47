"""What an audit found, how each of it is mended, and the batch that says so."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from accounts.errors import AccountNotFound
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece


class AuditFinding(NamedTuple):
    """`line` is what people read. `mend` None: nothing here can mend it, or nothing need."""

    line: str
    mend: Callable[[], Any] | None = None


def report_findings(work: Work, piece: Piece, found: Sequence[AuditFinding], repair: bool) -> Batch:
    """The batch of a piece: mends what it may. Differences that are left have failed."""
    mended = 0
    lines = []
    for difference in found:
        is_mended = repair and not work.dry_run and _mend(difference)
        mended += is_mended
        lines.append(f"{difference.line}{': mended' if is_mended else ''}")
    left = len(found) - mended
    would = sum(difference.mend is not None for difference in found)
    changed = (would if work.dry_run else mended) if repair else None
    return Batch(len(piece.rows) - left, left, piece.alias, changed, piece.position, lines)


def _mend(difference: AuditFinding) -> bool:
    """False: it is left. What an account that does not exist owns cannot be changed."""
    if difference.mend is None:
        return False
    try:
        difference.mend()
    except AccountNotFound:
        return False
    return True
