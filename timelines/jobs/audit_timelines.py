"""Looks for holes in live timelines, and mends those it finds."""

import random
from collections.abc import Callable, Iterator

from infra.jobs.types import Batch, Work
from timelines.actions.repair_timeline import repair_timeline
from timelines.jobs.live_timelines import iter_live_timelines
from timelines.queries.difference import TimelineDifference, find_difference


def audit_timelines(
    work: Work, share: float, repair: bool, draw: Callable[[], float] = random.random
) -> Iterator[Batch]:
    """Compares about this share of the live timelines with the posts; those with holes have failed.

    With `repair` they are mended and have changed. Dead entries are no fault: the rules keep them
    from pages. Cost: a query and a round trip a batch, and what `find_difference` says for each
    timeline compared.
    """
    for piece in iter_live_timelines(work):
        chosen = {reader: seen for reader, seen in piece.timelines.items() if draw() < share}
        found = {reader: find_difference(reader, seen) for reader, seen in chosen.items()}
        faulty = {reader: one for reader, one in found.items() if one and one.missing}
        is_repaired = repair and not work.dry_run
        lines = [_line(reader, one, is_repaired) for reader, one in faulty.items()]
        if is_repaired:
            for reader, one in faulty.items():
                repair_timeline(reader, one)
        failed = 0 if repair else len(faulty)
        changed = len(faulty) if repair else None
        done = piece.account_count - failed
        yield Batch(done, failed, piece.alias, changed, piece.position, lines)


def _line(reader_id: int, found: TimelineDifference, is_repaired: bool) -> str:
    orphaned, below = len(found.orphaned), len(found.below_mark)
    counts = f"{len(found.missing)} missing, {orphaned} orphaned, {below} below the mark"
    more = ", and more than it can hold" if found.is_too_deep else ""
    return f"account {reader_id}: {counts}{more}{': repaired' if is_repaired else ''}"
