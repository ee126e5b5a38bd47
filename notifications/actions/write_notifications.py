"""Writes notifications to the recipients' shard: what happened, and what was undone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from infra.sharding.buckets import shard_of
from infra.sharding.sql import Statement, fetch_pipelined
from notifications.ids import KIND_DIGIT, TICKS_A_MS, first_id
from notifications.push.sql import IS_SUBSCRIBED
from notifications.types import CROWD_KINDS, NotificationKind, Occurrence

# Follows, favourites or reposts that an account is notified of. Mentions have no limit.
NOTIFICATIONS_AN_HOUR = 1_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
Identity = tuple[int, int, int, int, int]
KEY = "owner_id, from_id, kind, post_moment, post_author"
SENT = f"""
sent ({KEY}, at_ms, revision, is_on) AS (SELECT * FROM unnest(
    %(owner_ids)s::bigint[], %(from_ids)s::bigint[], %(kinds)s::smallint[], %(moments)s::bigint[],
    %(authors)s::bigint[], %(at_ms)s::bigint[], %(revisions)s::bigint[], %(are_on)s::boolean[]
))
"""  # noqa: S608
SAME = "AND ".join(f"old.{column} = sent.{column} " for column in KEY.split(", "))
CREATE_INBOXES = """
INSERT INTO notifications_inbox (owner_id)
SELECT owner_id FROM unnest(%(owners)s::bigint[]) AS owner_id ORDER BY owner_id
ON CONFLICT DO NOTHING
"""
LOCK_INBOXES = """
SELECT FROM notifications_inbox WHERE owner_id = ANY(%(owners)s::bigint[])
ORDER BY owner_id FOR NO KEY UPDATE
"""
# What was undone long ago and is done again happens again: its row gets a new place.
DELETE_OLD = f"""
WITH {SENT} DELETE FROM notifications_notification AS old USING sent
WHERE {SAME} AND old.revision < sent.revision AND sent.is_on AND NOT old.is_on
    AND old.id < %(day_ago)s
"""  # noqa: S608
UPDATE_KNOWN = f"""
WITH {SENT} UPDATE notifications_notification AS old
SET is_on = sent.is_on, revision = sent.revision FROM sent
WHERE {SAME} AND old.revision < sent.revision
"""  # noqa: S608
# `nth` numbers the new ones of a kind, oldest first. The inbox is locked, so no other write adds
# rows at the same time.
ADD = f"""
WITH {SENT}, fresh AS MATERIALIZED (
    SELECT sent.*, kind = ANY(%(crowd)s::smallint[]) AS is_crowd,
        row_number() OVER (PARTITION BY owner_id, kind ORDER BY at_ms, from_id) AS nth
    FROM sent JOIN notifications_inbox USING (owner_id)
    WHERE is_on AND at_ms >= %(oldest_ms)s AND at_ms > floor_ms
        AND (at_ms > crowd_floor_ms OR kind <> ALL(%(crowd)s::smallint[]))
        AND NOT EXISTS (SELECT FROM notifications_notification AS old WHERE {SAME})
), judged AS MATERIALIZED (
    SELECT *, NOT is_crowd OR nth + (
        SELECT count(*) FROM (
            SELECT FROM notifications_notification AS old
            WHERE old.owner_id = fresh.owner_id AND old.kind = fresh.kind AND old.is_on
                AND NOT old.is_dismissed AND old.id >= %(hour_ago)s LIMIT %(an_hour)s
        ) AS lately
    ) <= %(an_hour)s AS is_kept FROM fresh
), numbered AS MATERIALIZED (
    SELECT judged.*, greatest(newest_tick, %(now_tick)s)
        + row_number() OVER (PARTITION BY owner_id ORDER BY at_ms, kind, from_id) AS tick
    FROM judged JOIN notifications_inbox USING (owner_id) WHERE is_kept
), moved AS (
    UPDATE notifications_inbox AS inbox
    SET newest_tick = greatest(inbox.newest_tick, given.newest_tick),
        crowd_floor_ms = greatest(inbox.crowd_floor_ms, given.left_out_ms)
    FROM (
        SELECT owner_id, (SELECT max(tick) FROM numbered WHERE numbered.owner_id = judged.owner_id)
            AS newest_tick, max(at_ms) FILTER (WHERE NOT is_kept) AS left_out_ms
        FROM judged GROUP BY owner_id
    ) AS given
    WHERE inbox.owner_id = given.owner_id
)
INSERT INTO notifications_notification ({KEY}, id, at_ms, revision, is_on, is_to_push)
SELECT {KEY}, tick * {KIND_DIGIT} + kind, at_ms, revision, true, {IS_SUBSCRIBED} FROM numbered
RETURNING id
"""  # noqa: S608
# Also rows of an earlier run, which died before it ordered their messages.
TO_PUSH = f"""
WITH {SENT} SELECT old.owner_id, array_agg(old.id ORDER BY old.id)
FROM notifications_notification AS old JOIN sent ON {SAME.removeprefix("AND ")}
WHERE old.is_to_push AND old.is_on GROUP BY old.owner_id
"""  # noqa: S608


class WrittenNotifications(NamedTuple):
    """`rows`: how many were added. `to_push`: ids whose messages were not sent, by owner."""

    rows: int
    to_push: Mapping[int, Sequence[int]]


def by_recipient_shard(
    occurrences: Iterable[Occurrence],
) -> dict[str, dict[Identity, Occurrence]]:
    """The newest state of each occurrence, by the shard of its recipient.

    What an account does to itself is left out, but for the end of its poll.
    """
    groups: dict[str, dict[Identity, Occurrence]] = {}
    for occurrence in occurrences:
        if occurrence.owner_id == occurrence.from_id and occurrence.kind != NotificationKind.POLL:
            continue
        group = groups.setdefault(shard_of(occurrence.owner_id), {})
        other = group.get(occurrence.identity)
        if other is None or other.revision < occurrence.revision:
            group[occurrence.identity] = occurrence
    return groups


def write_notifications(
    alias: str, occurrences: Mapping[Identity, Occurrence], now_ms: int
) -> WrittenNotifications:
    """Brings the notifications of recipients of one shard up to these occurrences.

    Of each crowd kind an owner gets NOTIFICATIONS_AN_HOUR rows in
    an hour; the others are left out for good. Safety: idempotent, in any order: an occurrence
    changes only a row with a lower revision. One transaction, which locks the inboxes in the order
    of their owners. Cost: one round trip for any number of occurrences.
    """
    params = _params(sorted(occurrences.values()), now_ms)
    sql = (CREATE_INBOXES, LOCK_INBOXES, DELETE_OLD, UPDATE_KNOWN, ADD, TO_PUSH)
    with transaction.atomic(using=alias):
        *_, added, to_push = fetch_pipelined(
            alias, [Statement(statement, params) for statement in sql]
        )
    return WrittenNotifications(len(added), dict(to_push))


def _params(occurrences: Sequence[Occurrence], now_ms: int) -> dict[str, object]:
    names = (
        "owner_ids", "from_ids", "kinds", "moments", "authors", "at_ms", "revisions", "are_on",
    )  # fmt: skip
    columns = [list(column) for column in zip(*occurrences, strict=True)]
    return {
        **dict(zip(names, columns, strict=True)),
        # An account that was purged gets no new inbox from changes that only end something.
        "owners": sorted({occurrence.owner_id for occurrence in occurrences if occurrence.is_on}),
        "crowd": [int(kind) for kind in CROWD_KINDS],
        "now_tick": now_ms * TICKS_A_MS,
        "hour_ago": first_id(now_ms - HOUR_MS),
        "day_ago": first_id(now_ms - DAY_MS),
        "oldest_ms": now_ms - settings.NOTIFICATION_DAYS * DAY_MS,
        "an_hour": NOTIFICATIONS_AN_HOUR,
    }
