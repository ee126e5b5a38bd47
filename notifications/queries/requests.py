"""Requests: accounts whose notifications the owner's policy filters. Nothing is stored for them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from infra.api.pages import Page, Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from notifications.queries.pages import id_range_of, page_of_notifications, read_until_enough
from notifications.queries.rows import IdRange
from notifications.queries.viewed_notifications import ViewedNotification
from notifications.types import ALL_KINDS, ONLY_FILTERED, Measure, Policy, Selection

READ = f"SELECT {', '.join(Policy._fields)} FROM notifications_inbox WHERE owner_id = %s"  # noqa: S608
FILTERED = Selection(verdicts=ONLY_FILTERED)
# A page of requests reads so many rows at a time; the summary reads this many and no more.
BATCH = 200


class ViewedRequest(NamedTuple):
    """The filtered notifications of one account, newest first, never empty."""

    from_id: int
    members: Sequence[ViewedNotification]


class PendingRequests(NamedTuple):
    """How many accounts, and how many notifications, are filtered among the newest BATCH."""

    requests: int
    notifications: int


def read_policy(owner_id: int) -> Policy:
    """The policy of the owner. One query by key."""
    row = fetch_one(shard_of(owner_id), READ, (owner_id,))
    return Policy(*map(Measure, row)) if row else Policy()


def list_requests(owner_id: int, window: Window, now_ms: int) -> Page[ViewedRequest]:
    """A page of requests, the account with the newest notification first.

    Cost: as `read_until_enough`.
    """
    ids, limit = id_range_of(window), window.limit
    read = read_until_enough(
        owner_id, FILTERED, ids, BATCH, lambda shown: len(_by_account(shown)) > limit, now_ms
    )
    chosen = set(list(_by_account(read.shown))[:limit])
    kept = [notification for notification in read.shown if notification.row.from_id in chosen]
    has_more = len(_by_account(read.shown)) > limit
    page = page_of_notifications(ids, kept, kept[-1].row.id if kept and has_more else read.last_id)
    return Page(_requests(page.items), page.older, page.newer)


def find_request(owner_id: int, from_id: int, now_ms: int) -> ViewedRequest | None:
    """The request of one account; None if nothing of it is filtered.

    Cost: as `read_until_enough`.
    """
    selection = Selection(ALL_KINDS, from_id, ONLY_FILTERED)
    read = read_until_enough(
        owner_id, selection, IdRange(), BATCH, lambda shown: bool(shown), now_ms
    )
    return ViewedRequest(from_id, read.shown) if read.shown else None


def list_filtered_ids(owner_id: int, from_id: int, now_ms: int) -> list[int]:
    """All notifications of one account that the policy filters. Cost: as `read_until_enough`."""
    selection = Selection(ALL_KINDS, from_id, ONLY_FILTERED)
    read = read_until_enough(owner_id, selection, IdRange(), BATCH, lambda _: False, now_ms)
    return [notification.row.id for notification in read.shown]


def count_pending(owner_id: int, now_ms: int) -> PendingRequests:
    """What the policy filters of the newest notifications. Cost: one query, and `view`."""
    read = read_until_enough(owner_id, FILTERED, IdRange(), BATCH, lambda _: True, now_ms)
    return PendingRequests(len(_by_account(read.shown)), len(read.shown))


def _requests(shown: Sequence[ViewedNotification]) -> list[ViewedRequest]:
    return [ViewedRequest(from_id, members) for from_id, members in _by_account(shown).items()]


def _by_account(
    shown: Sequence[ViewedNotification],
) -> Mapping[int, Sequence[ViewedNotification]]:
    groups: dict[int, list[ViewedNotification]] = {}
    for notification in shown:
        groups.setdefault(notification.row.from_id, []).append(notification)
    return groups
