"""Finds entries that live timelines lack, and repairs these timelines on request."""

import random
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator

from infra.jobs.types import Batch, Work
from timelines.actions.repair_timeline import repair_timeline
from timelines.jobs.live_timelines import iter_live_timelines
from timelines.queries.difference import TimelineDifference, find_difference


def audit_timelines(
    work: Work, share: float, repair: bool, draw: Callable[[], float] = random.random
) -> Iterator[Batch]:
    """Compares about this share of the live timelines with the posts.

    A timeline with missing entries counts as failed; with `repair` it is repaired and counts as
    changed. Stale entries are no failure: the rules keep them from pages. Cost: a query and a round
    trip a batch, and the cost of `find_difference` per timeline compared.
    """
    for batch in iter_live_timelines(work):
        chosen = {reader: seen for reader, seen in batch.timelines.items() if draw() < share}
        differences = {reader: find_difference(reader, seen) for reader, seen in chosen.items()}
        faulty = {
            reader: difference
            for reader, difference in differences.items()
            if difference and difference.missing
        }
        is_repaired = repair and not work.dry_run
        lines = [_line(reader, difference, is_repaired) for reader, difference in faulty.items()]
        if is_repaired:
            for reader, difference in faulty.items():
                repair_timeline(reader, difference)
        failed = 0 if repair else len(faulty)
        changed = len(faulty) if repair else None
        done = batch.account_count - failed
        yield Batch(done, failed, batch.alias, changed, batch.position, lines)


def parse_share(text: str) -> float:
    """A number above 0, at most 1, as an argument of a command."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise ArgumentTypeError(f"{text!r} is not a number above 0, at most 1")
    return number


def _line(reader_id: int, difference: TimelineDifference, is_repaired: bool) -> str:
    orphaned, below = len(difference.orphaned), len(difference.below_mark)
    counts = f"{len(difference.missing)} missing, {orphaned} orphaned, {below} below the mark"
    more = ", and more than it can hold" if difference.is_too_deep else ""
    return f"account {reader_id}: {counts}{more}{': repaired' if is_repaired else ''}"
