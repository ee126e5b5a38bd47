"""Changes of new posts as rows: what a feed must give, and what is too old. Needs Django: for the
backstage."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings

from infra.changes.feed import MARGIN, FeedPosition, position_now
from infra.changes.periodic import PARTITIONS, maintain_partitions
from infra.changes.sql import DELIVERED_TABLE
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all
from integrations.positions import encode_position
from integrations.types import SitePosition
from posts.changes import PostCreated

CREATED = f"""
SELECT id, filed_by::text, sequence FROM {DELIVERED_TABLE}
WHERE kind = %s AND created_at >= %s ORDER BY filed_by, sequence
"""
SET_TIME = f"UPDATE {DELIVERED_TABLE} SET delivered_at = %s, delivered_on = %s"
AGE = f"{SET_TIME} WHERE sequence = %s"
AGE_OLDER = f"{SET_TIME} WHERE (filed_by, sequence) < (%s::xid8, %s)"
COUNT_OLDER = f"SELECT count(*) FROM {DELIVERED_TABLE} WHERE delivered_on < %s"
MICROSECOND = timedelta(microseconds=1)


def list_created(order: Mapping[str, Any]) -> list[str]:
    """The ids that the events of all posts have that were written `since` then."""
    since = PostCreated.kind, datetime.fromisoformat(order["since"])
    rows = {alias: fetch_all(alias, CREATED, since) for alias in all_aliases()}
    return [f"{alias}-{row[0]}" for alias, several in rows.items() for row in several]


def age_created(order: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Moves the rows of the posts `since` then to the edge of what is kept, a microsecond apart:
    the reader behind the one in the middle has read exactly up to the edge. All older rows of the
    database go to the day before.

    Of each, in their order: the id of its event, whether a reader behind it may go on, and the
    position of that reader.
    """
    alias, edge = order["alias"], _edge()
    since = PostCreated.kind, datetime.fromisoformat(order["since"])
    rows = fetch_all(alias, CREATED, since)
    PARTITIONS.make(alias, [edge.date() - timedelta(days=1), edge.date()])
    before = edge - timedelta(hours=1)
    execute(alias, AGE_OLDER, (before, before.date(), rows[0][1], rows[0][2]))
    aged = []
    for number, (change_id, transaction, sequence) in enumerate(rows):
        at = edge + (number - len(rows) // 2) * MICROSECOND
        execute(alias, AGE, (at, at.date(), sequence))
        position = _position(alias, int(transaction), sequence, at)
        aged.append({"id": f"{alias}-{change_id}", "is_kept": at >= edge, "position": position})
    return aged


def drop_days(_: object) -> int:
    """Drops the days that are due, as the compensator does. How many rows that were."""
    today = datetime.now(UTC).date()
    before = _count_before(today - timedelta(days=settings.CHANGE_REPLAY_DAYS))
    for alias in all_aliases():
        maintain_partitions(alias, today)
    return before - _count_before(today - timedelta(days=settings.CHANGE_REPLAY_DAYS))


def _edge() -> datetime:
    """The first time up to which a reader must have read."""
    oldest = (datetime.now(UTC) + MARGIN).date() - timedelta(days=settings.CHANGE_REPLAY_DAYS)
    return datetime(oldest.year, oldest.month, oldest.day, tzinfo=UTC) + MARGIN


def _position(alias: str, transaction: int, sequence: int, at: datetime) -> str:
    """Of a reader whose last change this is, and who has read all of the other databases."""
    now = {each: position_now(each) for each in all_aliases()}
    row = FeedPosition(now[alias].timeline, transaction, sequence, at, at)
    return encode_position(SitePosition({**now, alias: row}))


def _count_before(day: date) -> int:
    return sum(fetch_all(alias, COUNT_OLDER, (day,))[0][0] for alias in all_aliases())
