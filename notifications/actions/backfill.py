"""Writes notifications that are missing, at the places of their time in the list."""

from collections.abc import Iterator, Mapping, Sequence, Set

from django.db import transaction

from infra.sharding.sql import Statement, fetch_pipelined
from notifications.cache import end_rows_of
from notifications.ids import KIND_DIGIT, TICKS_A_MS, first_id, id_of
from notifications.types import Occurrence

CREATE_INBOXES = """
INSERT INTO notifications_inbox (owner_id)
SELECT owner_id FROM unnest(%(owners)s::bigint[]) AS owner_id ORDER BY owner_id
ON CONFLICT DO NOTHING
"""
LOCK_INBOXES = """
SELECT FROM notifications_inbox WHERE owner_id = ANY(%(owners)s::bigint[])
ORDER BY owner_id FOR NO KEY UPDATE
"""
# A change may have been delivered in the meantime: its row stays.
INSERT = """
INSERT INTO notifications_notification
    (owner_id, from_id, kind, post_moment, post_author, at_ms, revision, is_on, id)
SELECT * FROM unnest(
    %(owner_ids)s::bigint[], %(from_ids)s::bigint[], %(kinds)s::smallint[], %(moments)s::bigint[],
    %(authors)s::bigint[], %(at_ms)s::bigint[], %(revisions)s::bigint[], %(are_on)s::boolean[],
    %(ids)s::bigint[]
) ON CONFLICT DO NOTHING RETURNING owner_id
"""
MOVE = """
UPDATE notifications_inbox SET newest_tick = greatest(newest_tick, tick)
FROM unnest(%(owners)s::bigint[], %(ticks)s::bigint[]) AS given (owner, tick)
WHERE owner_id = owner
"""
# The places of the owners that are taken, from the first one that may be wanted.
TAKEN = f"""
SELECT owner_id, array_agg(id / {KIND_DIGIT})
FROM unnest(%(owners)s::bigint[], %(lowest)s::bigint[]) AS wanted (owner_id, lowest)
JOIN notifications_notification AS one USING (owner_id) WHERE one.id >= lowest GROUP BY owner_id
"""  # noqa: S608
COLUMNS = (
    "owner_ids", "from_ids", "kinds", "moments", "authors", "at_ms", "revisions", "are_on", "ids",
)  # fmt: skip


def backfill_on_shard(alias: str, missing: Mapping[int, Sequence[Occurrence]]) -> int:
    """Adds missing notifications of owners of one shard, oldest first. Returns how many it added.

    Safety: idempotent, and correct while writes go on: it locks the inboxes. Two round trips.
    """
    owners = {"owners": sorted(missing)}
    if not missing:
        return 0
    lowest = [first_id(missing[owner_id][0].at_ms) for owner_id in owners["owners"]]
    with transaction.atomic(using=alias):
        *_, taken = fetch_pipelined(
            alias,
            [
                Statement(CREATE_INBOXES, owners),
                Statement(LOCK_INBOXES, owners),
                Statement(TAKEN, {**owners, "lowest": lowest}),
            ],
        )
        added = _insert(alias, _place_all(missing, dict(taken)))
    end_rows_of(*missing)
    return added


def _insert(alias: str, placed: Mapping[int, Sequence[tuple[int, ...]]]) -> int:
    ticks = [rows[-1][-1] // KIND_DIGIT for rows in placed.values()]
    moved = {"owners": list(placed), "ticks": ticks}
    statements = [Statement(INSERT, _columns(placed)), Statement(MOVE, moved)]
    added, _ = fetch_pipelined(alias, statements)
    return len(added)


def _place_all(
    missing: Mapping[int, Sequence[Occurrence]], taken: Mapping[int, Sequence[int]]
) -> dict[int, list[tuple[int, ...]]]:
    return {
        owner_id: list(_place(occurrences, set(taken.get(owner_id, ()))))
        for owner_id, occurrences in missing.items()
    }


def _place(occurrences: Sequence[Occurrence], taken: Set[int]) -> Iterator[tuple[int, ...]]:
    """Each occurrence with its id: the first tick from its time on that is free. Oldest first."""
    tick = 0
    for occurrence in occurrences:
        tick = max(tick + 1, occurrence.at_ms * TICKS_A_MS)
        while tick in taken:
            tick += 1
        yield (*occurrence, id_of(tick, occurrence.kind))


def _columns(placed: Mapping[int, Sequence[tuple[int, ...]]]) -> dict[str, list[int]]:
    rows = [row for rows in placed.values() for row in rows]
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
