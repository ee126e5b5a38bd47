"""Removes stale entries from live timelines that have many, and deletes expired timelines."""

from collections.abc import Iterator

from infra.jobs.types import Batch, Work
from timelines.jobs.live_timelines import iter_live_timelines
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.stores.factory import timeline_store
from timelines.stores.weeks import delete_expired

# Few stale entries are not worth a write.
STALE_RATIO = 0.25


def vacuum_timelines(work: Work, stale_ratio: float = STALE_RATIO) -> Iterator[Batch]:
    """Removes stale entries from timelines with more than this share of them, a batch at a time.

    First deletes the expired timelines of the stores in rows, unless the run is for one account.
    Adds nothing: `audit timelines` finds missing entries. Cost: as `audit timelines`, and one round
    trip per timeline that is written.
    """
    if work.account_id is None and not work.dry_run:
        for alias in work.aliases:
            yield from _delete_all_expired(alias)
    for batch in iter_live_timelines(work):
        lines, changed = [], 0
        for reader_id, seen in batch.timelines.items():
            difference = find_difference(reader_id, seen)
            if difference is None or not exceeds_stale_ratio(difference, stale_ratio):
                continue
            changed += 1
            lines.append(_line(reader_id, difference))
            if not work.dry_run:
                timeline_store().remove(reader_id, difference.seen, difference.stale)
        yield Batch(batch.account_count, 0, batch.alias, changed, batch.position, lines)


def _delete_all_expired(alias: str) -> Iterator[Batch]:
    """A periodic task does so too, a few at a time. Redis deletes expired timelines by itself."""
    while deleted := delete_expired(alias):
        yield Batch(0, 0, alias, deleted, None, [f"{alias}: {deleted} expired timelines"])


def exceeds_stale_ratio(difference: TimelineDifference, stale_ratio: float) -> bool:
    return len(difference.stale) > stale_ratio * difference.entry_count


def _line(reader_id: int, difference: TimelineDifference) -> str:
    stale = f"{len(difference.stale)} of {difference.entry_count} entries are stale"
    return f"account {reader_id}: {stale}"
