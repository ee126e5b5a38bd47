"""Notifications as their owner sees them: hydrated rows, after the rules."""

from typing import NamedTuple

from accounts.queries.load import ask_accounts
from infra.caching.questions import RoundTrip
from notifications.queries.rows import ReadRows
from notifications.rules import Circumstances, judge
from notifications.types import NotificationRow, Verdict
from posts.reading.statuses import MOST_AT_ONCE
from posts.reading.viewing import ask_viewed
from relations.queries.relationships import ask_relationships


class ViewedNotification(NamedTuple):
    """A notification with its Account entity, and the Status entity of its post if it has one."""

    row: NotificationRow
    account: bytes
    status: bytes | None
    verdict: Verdict


def view_notifications(owner_id: int, read: ReadRows, now_ms: int) -> list[ViewedNotification]:
    """The rows that the owner may see, and those that the policy filters, in their order.

    `read`: with what was taken back. Cost when warm: one round trip for every MOST_AT_ONCE rows.
    """
    parts = [read.rows[n : n + MOST_AT_ONCE] for n in range(0, len(read.rows), MOST_AT_ONCE)]
    return [
        notification
        for rows in parts
        for notification in _view_some(owner_id, read._replace(rows=rows), now_ms)
    ]


def _view_some(owner_id: int, read: ReadRows, now_ms: int) -> list[ViewedNotification]:
    actors = list(dict.fromkeys(row.from_id for row in read.rows))
    posts = {row.post_id: row.post_id for row in read.rows if row.post_id is not None}
    trip = RoundTrip()
    asked = trip.ask(ask_accounts(actors)), trip.ask(ask_relationships(owner_id, actors))
    shown = trip.ask(ask_viewed(posts, owner_id))
    trip.run()
    accounts, relationships = asked[0].value, asked[1].value.by_account
    statuses = shown.value.list_visible(posts)
    viewed = []
    for row in read.rows:
        facts = Circumstances(
            accounts.get(row.from_id),
            relationships[row.from_id],
            statuses.get(row.post_id) if row.post_id else None,
            row.id in read.undone,
            row.from_id in read.permitted,
        )
        verdict = judge(row, owner_id, facts, read.policy, now_ms)
        if verdict is not Verdict.HIDDEN and facts.account is not None:
            viewed.append(ViewedNotification(row, facts.account, facts.status, verdict))
    return viewed
