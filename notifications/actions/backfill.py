"""Writes notifications that are missing, at the places of their time in the list."""

from collections.abc import Iterator, Mapping, Sequence, Set

from django.db import transaction

from infra.sharding.sql import Statement, fetch_pipelined
from notifications.actions.record import CREATE_INBOXES, KEY, LOCK_INBOXES
from notifications.ids import KIND_DIGIT, TICKS_A_MS
from notifications.queries.missing import MissingNotifications
from notifications.types import Occurrence

# A change may have been delivered in the meantime: its row stays.
INSERT = f"""
INSERT INTO notifications_notification ({KEY}, at_ms, revision, is_on, id)
SELECT * FROM unnest(
    %(owner_ids)s::bigint[], %(from_ids)s::bigint[], %(kinds)s::smallint[], %(moments)s::bigint[],
    %(authors)s::bigint[], %(at_ms)s::bigint[], %(revisions)s::bigint[], %(are_on)s::boolean[],
    %(ids)s::bigint[]
) ON CONFLICT DO NOTHING RETURNING owner_id
"""  # noqa: S608
MOVE = """
UPDATE notifications_inbox SET newest_tick = greatest(newest_tick, tick)
FROM unnest(%(owners)s::bigint[], %(ticks)s::bigint[]) AS given (owner, tick)
WHERE owner_id = owner
"""
COLUMNS = (
    "owner_ids", "from_ids", "kinds", "moments", "authors", "at_ms", "revisions", "are_on", "ids",
)  # fmt: skip


def backfill_on_shard(alias: str, found: MissingNotifications) -> int:
    """Adds the missing notifications of owners of one shard. Returns how many it added.

    Safety: idempotent, and correct while writes go on: it locks the inboxes. One round trip.
    """
    placed = {
        owner_id: list(_place(occurrences, found.ticks.get(owner_id, set())))
        for owner_id, occurrences in sorted(found.missing.items())
    }
    if not placed:
        return 0
    owners = {
        "owners": list(placed),
        "ticks": [rows[-1][-1] // KIND_DIGIT for rows in placed.values()],
    }
    statements = [
        Statement(CREATE_INBOXES, owners),
        Statement(LOCK_INBOXES, owners),
        Statement(INSERT, _columns(placed)),
        Statement(MOVE, owners),
    ]
    with transaction.atomic(using=alias):
        _, _, added, _ = fetch_pipelined(alias, statements)
    return len(added)


def _place(occurrences: Sequence[Occurrence], taken: Set[int]) -> Iterator[tuple[int, ...]]:
    """Each occurrence with its id: the first tick from its time on that is free. Oldest first."""
    tick = 0
    for one in occurrences:
        tick = max(tick + 1, one.at_ms * TICKS_A_MS)
        while tick in taken:
            tick += 1
        yield (*one, tick * KIND_DIGIT + one.kind)


def _columns(placed: Mapping[int, Sequence[tuple[int, ...]]]) -> dict[str, list[int]]:
    rows = [row for rows in placed.values() for row in rows]
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
