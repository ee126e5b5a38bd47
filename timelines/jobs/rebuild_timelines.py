"""Repairs every live timeline that differs from the posts, entry by entry."""

from collections.abc import Iterator

from infra.jobs.types import Batch, Work
from timelines.actions.repair_timeline import describe_repair, repair_timeline
from timelines.jobs.live_timelines import iter_live_timelines
from timelines.queries.difference import find_difference


def rebuild_timelines(work: Work) -> Iterator[Batch]:
    """Adds missing entries to live timelines and removes stale ones, a batch of accounts at a time.

    Timelines stay readable and keep what is pushed during the run (actions/repair_timeline.py). It
    builds no timeline that is not live; the reader's next page does.
    Cost: as `audit timelines`, and two round trips per timeline that differs.
    """
    for batch in iter_live_timelines(work):
        lines, changed = [], 0
        for reader_id, seen in batch.timelines.items():
            difference = find_difference(reader_id, seen)
            if not difference:
                continue
            changed += 1
            lines += describe_repair(reader_id, difference)
            if not work.dry_run:
                repair_timeline(reader_id, difference)
        yield Batch(batch.account_count, 0, batch.alias, changed, batch.position, lines)
