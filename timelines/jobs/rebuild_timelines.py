"""Makes live timelines what the posts say, entry by entry."""

from collections.abc import Iterator

from infra.jobs.types import Batch, Work
from timelines.actions.repair_timeline import describe_repair, repair_timeline
from timelines.jobs.live_timelines import iter_live_timelines
from timelines.queries.difference import find_difference


def rebuild_timelines(work: Work) -> Iterator[Batch]:
    """Adds what live timelines lack and takes out what is dead; a batch of accounts each.

    Readers see nothing of it but the entries: no timeline is unreadable meanwhile, and what is
    pushed meanwhile stays (jobs/mend.py). What is not live stays so; its reader builds it.
    Cost: as `audit_timelines`, and two round trips for each timeline that differs.
    """
    for piece in iter_live_timelines(work):
        lines, changed = [], 0
        for reader_id, seen in piece.timelines.items():
            found = find_difference(reader_id, seen)
            if not found:
                continue
            changed += 1
            lines += describe_repair(reader_id, found)
            if not work.dry_run:
                repair_timeline(reader_id, found)
        yield Batch(piece.account_count, 0, piece.alias, changed, piece.position, lines)
