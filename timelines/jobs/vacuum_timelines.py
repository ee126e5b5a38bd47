"""Takes dead entries out of live timelines that have many, and deletes timelines nobody reads."""

from collections.abc import Iterator

from infra.jobs.types import Batch, Work
from timelines.jobs.live_timelines import iter_live_timelines
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.stores.factory import timeline_store
from timelines.stores.weeks import delete_expired

# A home that lost a few posts is not worth writing.
STALE_RATIO = 0.25


def vacuum_timelines(work: Work, stale_ratio: float = STALE_RATIO) -> Iterator[Batch]:
    """Timelines of which more than this share is dead; a batch of accounts each.

    Before that, unless it is one account's turn, what stores in rows keep of readers who are gone.
    Adds nothing: holes are for `audit_timelines`. Cost: as that, and one round trip for each that
    is written.
    """
    if work.account_id is None and not work.dry_run:
        for alias in work.aliases:
            yield from _bury_all(alias)
    for piece in iter_live_timelines(work):
        lines, changed = [], 0
        for reader_id, seen in piece.timelines.items():
            found = find_difference(reader_id, seen)
            if found is None or not exceeds_stale_ratio(found, stale_ratio):
                continue
            changed += 1
            lines.append(_line(reader_id, found))
            if not work.dry_run:
                timeline_store().remove(reader_id, found.seen, found.stale)
        yield Batch(piece.account_count, 0, piece.alias, changed, piece.position, lines)


def _bury_all(alias: str) -> Iterator[Batch]:
    """The compensator does so too, a few at a time. Redis forgets by itself."""
    while buried := delete_expired(alias):
        yield Batch(0, 0, alias, buried, None, [f"{alias}: {buried} timelines nobody reads"])


def exceeds_stale_ratio(found: TimelineDifference, stale_ratio: float) -> bool:
    return len(found.stale) > stale_ratio * found.entry_count


def _line(reader_id: int, found: TimelineDifference) -> str:
    return f"account {reader_id}: {len(found.stale)} of {found.entry_count} entries are stale"
