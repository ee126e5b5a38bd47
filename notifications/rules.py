"""The rules that decide whether an owner sees a notification. Pure functions of plain values."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from accounts.encode import is_limited
from notifications.types import Measure, NotificationKind, NotificationRow, Policy, Verdict
from posts.fragments.read import find_replied_to, find_visibility
from posts.types import Visibility
from relations.types import REQUESTS, Attribute, Relationship
from relations.visibility import Surface, may_show

NEW_ACCOUNT_DAYS = 30
CREATED_AT = re.compile(rb'"created_at":"(\d{4}-\d\d-\d\d)')
# The owner muted the thread of the post.
IS_MUTED = b'"muted":true'
# The states of the actor's edge for which these hold. A quiet follow is a secret; a quiet request
# is not, because the owner has to answer it.
ATTRIBUTES = {
    NotificationKind.FOLLOW: frozenset((Attribute.FOLLOW,)),
    NotificationKind.FOLLOW_REQUEST: REQUESTS,
}

# As in Mastodon. The owner may have asked the poll, and does not follow itself; and chose to quote.
NEVER_FILTERED = (
    NotificationKind.FOLLOW_REQUEST,
    NotificationKind.POLL,
    NotificationKind.QUOTED_UPDATE,
)


class Circumstances(NamedTuple):
    """What the rules need to know of one notification.

    `account`: the Account entity of its actor; None if it may not be shown. `status`: the Status
    entity of its post; None if there is none, or the owner may not see it. `is_undone`: the repost
    or favourite was taken back. `is_permitted`: the owner accepts all of this account.
    """

    account: bytes | None
    relationship: Relationship
    status: bytes | None
    is_undone: bool
    is_permitted: bool


def judge(
    row: NotificationRow, owner_id: int, facts: Circumstances, policy: Policy, now_ms: int
) -> Verdict:
    """What the list of the owner does with this notification now."""
    if facts.account is None:
        return Verdict.HIDDEN
    if row.kind == NotificationKind.MODERATION_WARNING:
        return Verdict.SHOWN
    if not _still_holds(row, facts):
        return Verdict.HIDDEN
    if not may_show(Surface.NOTIFIED, facts.relationship, now_ms):
        return Verdict.HIDDEN
    if row.kind in NEVER_FILTERED or facts.is_permitted:
        return Verdict.SHOWN
    measure = _measure(owner_id, facts.account, facts, policy, now_ms)
    return (Verdict.SHOWN, Verdict.FILTERED, Verdict.HIDDEN)[measure]


def _still_holds(row: NotificationRow, facts: Circumstances) -> bool:
    """Whether the follow goes on, or the post is there and its thread is not muted."""
    if row.kind == NotificationKind.STATUS and not facts.relationship.is_followed:
        return False
    attributes = ATTRIBUTES.get(NotificationKind(row.kind))
    if attributes is not None:
        return facts.relationship.theirs in attributes
    return facts.status is not None and not facts.is_undone and IS_MUTED not in facts.status


def _measure(
    owner_id: int, account: bytes, facts: Circumstances, policy: Policy, now_ms: int
) -> Measure:
    """The strictest measure of the policy that applies."""
    known = facts.relationship
    applies = (
        not known.is_followed,
        not known.follows_me,
        policy.for_new_accounts and _is_new(account, now_ms),
        _is_private(owner_id, facts.status) and not known.is_followed,
        is_limited(account) and not known.is_followed,
    )
    measures = (measure for measure, holds in zip(policy, applies, strict=True) if holds)
    return max(measures, default=Measure.ACCEPT)


def _is_new(account: bytes, now_ms: int) -> bool:
    match = CREATED_AT.search(account)
    if match is None:
        return False
    oldest = datetime.fromtimestamp(now_ms / 1000, UTC) - timedelta(days=NEW_ACCOUNT_DAYS)
    return match[1].decode() > f"{oldest:%Y-%m-%d}"


def _is_private(owner_id: int, status: bytes | None) -> bool:
    """Whether this is a direct post that does not answer the owner."""
    if status is None:
        return False
    is_direct = find_visibility(status) is Visibility.DIRECT
    return is_direct and find_replied_to(status) != owner_id
