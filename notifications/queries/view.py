"""Notifications as their owner sees them: hydrated rows, after the rules."""

from typing import NamedTuple

from accounts.queries.load import load_account_json
from notifications.queries.rows import ReadRows
from notifications.rules import Circumstances, judge
from notifications.types import RESPONSE_KINDS, NotificationKind, NotificationRow, Verdict
from posts.queries.responses import find_live_responses
from posts.queries.statuses import load_visible
from posts.types import Kind
from relations.queries.relationships import load_relationships

KIND_OF_ROW = {
    NotificationKind.FAVOURITE: Kind.FAVOURITE,
    NotificationKind.REBLOG: Kind.REPOST,
}


class ViewedNotification(NamedTuple):
    """A notification with its Account entity, and the Status entity of its post if it has one."""

    row: NotificationRow
    account: bytes
    status: bytes | None
    verdict: Verdict


def view(owner_id: int, read: ReadRows, now_ms: int) -> list[ViewedNotification]:
    """The rows that the owner may see, and those that the policy filters, in their order.

    Cost: one query by key if there are reposts or favourites, and three round trips when warm.
    """
    actors = list(dict.fromkeys(row.from_id for row in read.rows))
    posts = [row.post_id for row in read.rows if row.post_id is not None]
    accounts, relationships = load_account_json(actors), load_relationships(owner_id, actors)
    statuses = load_visible({i: i for i in posts}, owner_id)
    undone = _find_undone(owner_id, read.rows)
    viewed = []
    for row in read.rows:
        facts = Circumstances(
            accounts.get(row.from_id),
            relationships[row.from_id],
            statuses.get(row.post_id) if row.post_id else None,
            row.id in undone,
            row.from_id in read.permitted,
        )
        verdict = judge(row, owner_id, facts, read.policy, now_ms)
        if verdict is not Verdict.HIDDEN and facts.account is not None:
            viewed.append(ViewedNotification(row, facts.account, facts.status, verdict))
    return viewed


def _find_undone(owner_id: int, rows: list[NotificationRow]) -> set[int]:
    """Ids of reposts and favourites that were taken back, perhaps before the drain knows."""
    wanted = {
        row.id: (row.post_moment, int(KIND_OF_ROW[NotificationKind(row.kind)]), row.from_id)
        for row in rows
        if row.kind in RESPONSE_KINDS
    }
    live = find_live_responses(owner_id, set(wanted.values()))
    return {one for one, key in wanted.items() if key not in live}
