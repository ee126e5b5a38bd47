"""Makes a live timeline right while it is read and pushed to."""

from infra.changes.failpoints import failpoint
from timelines.queries.difference import TimelineDifference
from timelines.stores.factory import timeline_store
from timelines.types import Entry


def repair_timeline(reader_id: int, found: TimelineDifference) -> None:
    """Adds what is missing, then takes out what is dead; readers see it before or after.

    Both are steps of a living timeline, which is never unreadable: what is pushed meanwhile stays,
    and a timeline that is another by then keeps what it has. Only one that lacks more than it could
    hold is dropped: its reader's next page is pulled, and builds it anew.
    Safety: idempotent; killed in between, the second step is left to the next run. Raises:
    RedisError. Cost: one round trip each.
    """
    if found.is_too_deep:
        timeline_store().drop(reader_id)
        return
    if found.missing:
        timeline_store().push({reader_id: found.missing})
    failpoint("timeline.holes_filled")
    if found.stale:
        timeline_store().remove(reader_id, found.seen, found.stale)


def describe_repair(reader_id: int, found: TimelineDifference) -> list[str]:
    """What would change, a line an entry."""
    if found.is_too_deep:
        return [f"account {reader_id}: lacks more than a timeline can hold: dropped"]
    return [
        *(_line(reader_id, "+", entry, "missing") for entry in found.missing),
        *(_line(reader_id, "-", entry, "orphaned") for entry in found.orphaned),
        *(_line(reader_id, "-", entry, "below the mark") for entry in found.below_mark),
    ]


def _line(reader_id: int, sign: str, entry: Entry, why: str) -> str:
    event, original = entry
    shown = "" if event == original else f", a repost of {original.public}"
    return f"account {reader_id}: {sign} {event.public} of {event.author_id}{shown}: {why}"
