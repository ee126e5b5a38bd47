"""Deletes notifications that are old, or beyond the number that an owner keeps."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import transaction

from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from infra.sharding.sql import Statement, fetch_all, fetch_pipelined
from notifications.actions.write_notifications import DAY_MS
from notifications.cache import end_rows_of
from notifications.ids import first_id
from notifications.sql import INBOXES

# An account keeps the newest ones. Up to so many entries of an index are read for an owner.
NOTIFICATIONS_KEPT = 10_000
BATCH_SIZE = 100
LOCK = """
SELECT FROM notifications_inbox WHERE owner_id = ANY(%(owners)s::bigint[])
ORDER BY owner_id FOR NO KEY UPDATE
"""
# The oldest row that each owner keeps, and whether there is an older one.
BOUNDS = """
SELECT owner_id, greatest(%(oldest)s, (
    SELECT min(id) FROM (
        SELECT id FROM notifications_notification AS one WHERE one.owner_id = wanted.owner_id
        ORDER BY id DESC LIMIT %(kept)s
    ) AS newest
)) AS first_kept FROM unnest(%(owners)s::bigint[]) AS wanted (owner_id)
"""
COUNT = f"""
SELECT count(*) FROM ({BOUNDS}) AS bound
JOIN notifications_notification AS one ON one.owner_id = bound.owner_id AND id < first_kept
"""  # noqa: S608
# Events as old as those that are deleted are not added again.
TRIM = f"""
WITH deleted AS (
    DELETE FROM notifications_notification AS one USING ({BOUNDS}) AS bound
    WHERE one.owner_id = bound.owner_id AND one.id < first_kept
    RETURNING one.owner_id, one.at_ms
), raised AS (
    UPDATE notifications_inbox AS inbox SET floor_ms = greatest(floor_ms, newest_ms)
    FROM (SELECT owner_id, max(at_ms) AS newest_ms FROM deleted GROUP BY owner_id) AS given
    WHERE inbox.owner_id = given.owner_id
)
SELECT count(*) FROM deleted
"""  # noqa: S608


def trim_notifications(work: Work, now_ms: int) -> Iterator[Batch]:
    """Deletes what is older than NOTIFICATION_DAYS, and all but the newest NOTIFICATIONS_KEPT.

    Safety: idempotent; locks the inboxes of a batch, so it is correct while writes go on. Cost: one
    transaction of two statements for each batch of owners.
    """
    for piece in walk_table(work, INBOXES):
        params = {
            "owners": [owner_id for (owner_id,) in piece.rows],
            "oldest": first_id(now_ms - settings.NOTIFICATION_DAYS * DAY_MS),
            "kept": NOTIFICATIONS_KEPT,
        }
        changed = _count(piece.alias, params) if work.dry_run else _trim(piece.alias, params)
        yield Batch(len(piece.rows), 0, piece.alias, changed, piece.position)


def _count(alias: str, params: dict[str, Any]) -> int:
    return int(fetch_all(alias, COUNT, params)[0][0])


def _trim(alias: str, params: dict[str, Any]) -> int:
    with transaction.atomic(using=alias):
        _, replies = fetch_pipelined(alias, [Statement(LOCK, params), Statement(TRIM, params)])
    deleted = int(replies[0][0])
    if deleted:
        end_rows_of(*params["owners"])
    return deleted
