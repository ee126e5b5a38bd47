"""Compares the derived side of edges with the truth: counts, forward edges, backward edges."""

from collections.abc import Iterator
from functools import partial

from accounts.sql import ACCOUNTS
from infra.jobs.findings import Pause
from infra.jobs.several_passes import in_turn
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from relations.jobs.audit_backward import audit_backward
from relations.jobs.audit_counts import audit_counts
from relations.jobs.audit_forward import audit_forward
from relations.jobs.edge_sightings import BACKWARD, FORWARD


def audit_edges(
    work: Work, repair: bool, pause: Pause, restored_wins: bool = False
) -> Iterator[Batch]:
    """A batch per piece of each table; differences that are not repaired are its failed rows.

    Counts come first: the repair of an edge moves counts, and a wrong count could become negative.
    `restored_wins`: see `audit_backward`. `pause(seconds)` waits for pending changes; it returns
    False when the run shall stop.
    """
    counts = partial(audit_counts, repair=repair)
    forward = partial(audit_forward, repair=repair, pause=pause)
    backward = partial(audit_backward, repair=repair, restored_wins=restored_wins)
    return in_turn(work, counts, forward, backward)


def estimate_edge_audit(work: Work) -> int | None:
    """About how many rows there are to compare."""
    estimates = [estimate_rows(work, table) for table in (ACCOUNTS, FORWARD, BACKWARD)]
    return None if None in estimates else sum(filter(None, estimates))
