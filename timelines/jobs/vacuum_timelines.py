"""Takes dead entries out of live timelines that have many, and deletes timelines nobody reads."""

from collections.abc import Iterator

from infra.jobs.types import Batch, Work
from timelines.jobs.live_timelines import walk_live
from timelines.queries.difference import Difference, find_difference
from timelines.stores.factory import timeline_store
from timelines.stores.weeks import bury_dead

# A home that lost a few posts is not worth writing.
DEAD_SHARE = 0.25


def vacuum_timelines(work: Work, dead_share: float = DEAD_SHARE) -> Iterator[Batch]:
    """Timelines of which more than this share is dead; a batch of accounts each.

    Before that, unless it is one account's turn, what stores in rows keep of readers who are gone.
    Adds nothing: holes are for `audit_timelines`. Cost: as that, and one round trip for each that
    is written.
    """
    if work.account_id is None and not work.dry_run:
        for alias in work.aliases:
            yield from _bury_all(alias)
    for piece in walk_live(work):
        lines, changed = [], 0
        for reader_id, seen in piece.timelines.items():
            found = find_difference(reader_id, seen)
            if found is None or not is_worn(found, dead_share):
                continue
            changed += 1
            lines.append(_line(reader_id, found))
            if not work.dry_run:
                timeline_store().take_out(reader_id, found.seen, found.dead)
        yield Batch(piece.account_count, 0, piece.alias, changed, piece.position, lines)


def _bury_all(alias: str) -> Iterator[Batch]:
    """The compensator does so too, a few at a time. Redis forgets by itself."""
    while buried := bury_dead(alias):
        yield Batch(0, 0, alias, buried, None, [f"{alias}: {buried} timelines nobody reads"])


def is_worn(found: Difference, dead_share: float) -> bool:
    return len(found.dead) > dead_share * found.held_count


def _line(reader_id: int, found: Difference) -> str:
    return f"account {reader_id}: {len(found.dead)} of {found.held_count} entries are dead"
