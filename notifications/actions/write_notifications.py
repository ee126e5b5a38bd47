"""Writes notifications to the recipients' shard: what happened, and what was undone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from notifications.ids import TICKS_A_MS, first_id
from notifications.types import CROWD_KINDS, OWN_KINDS, NotificationKind, Occurrence

# Follows, reposts, or reactions of a kind that an account is notified of. Mentions have no limit.
NOTIFICATIONS_AN_HOUR = 1_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
# notifications/functions.sql: all in one round trip.
WRITE = """
SELECT added, push_owners, push_ids FROM notifications_write(
    %(owner_ids)s, %(from_ids)s, %(kinds)s::smallint[], %(moments)s, %(authors)s, %(times)s,
    %(revisions)s, %(are_on)s, %(crowd_kinds)s::smallint[], %(most_an_hour)s, %(now_tick)s,
    %(hour_ago)s, %(day_ago)s, %(oldest_ms)s
)
"""


class WrittenNotifications(NamedTuple):
    """`rows`: how many were added. `to_push`: ids whose messages were not sent, by owner."""

    rows: int
    to_push: Mapping[int, Sequence[int]]


def by_recipient_shard(occurrences: Iterable[Occurrence]) -> dict[str, list[Occurrence]]:
    """The occurrences, by the shard of their recipient.

    What an account does to itself is left out, but for OWN_KINDS.
    """
    groups: dict[str, list[Occurrence]] = {}
    for occurrence in occurrences:
        if occurrence.owner_id != occurrence.from_id or occurrence.kind in OWN_KINDS:
            groups.setdefault(shard_of(occurrence.owner_id), []).append(occurrence)
    return groups


def write_notifications(
    alias: str, occurrences: Sequence[Occurrence], now_ms: int
) -> WrittenNotifications:
    """Brings the notifications of recipients of one shard up to these occurrences.

    Of each crowd kind an owner gets NOTIFICATIONS_AN_HOUR rows in an hour; the others are left out
    for good. Safety: idempotent, in any order: an occurrence changes only a row with a lower
    revision, and the newest of several states holds. It locks the inboxes in the order of their
    owners.
    Cost: one statement for any number of occurrences.
    """
    row = fetch_one(alias, WRITE, _params(occurrences, now_ms))
    added, owner_ids, ids = row  # type: ignore[misc]  # a function has one row
    to_push: dict[int, list[int]] = {}
    for owner_id, id_ in zip(owner_ids, ids, strict=True):
        to_push.setdefault(owner_id, []).append(id_)
    return WrittenNotifications(added, to_push)


def _params(occurrences: Sequence[Occurrence], now_ms: int) -> dict[str, object]:
    names = (
        "owner_ids", "from_ids", "kinds", "moments", "authors", "times", "revisions", "are_on",
    )  # fmt: skip
    columns = [list(column) for column in zip(*occurrences, strict=True)]
    kinds = {int(occurrence.kind) for occurrence in occurrences}
    return {
        **dict(zip(names, columns, strict=True)),
        "crowd_kinds": [kind for kind in kinds if NotificationKind(kind).type in CROWD_KINDS],
        "most_an_hour": NOTIFICATIONS_AN_HOUR,
        "now_tick": now_ms * TICKS_A_MS,
        "hour_ago": first_id(now_ms - HOUR_MS),
        "day_ago": first_id(now_ms - DAY_MS),
        "oldest_ms": now_ms - settings.NOTIFICATION_DAYS * DAY_MS,
    }
