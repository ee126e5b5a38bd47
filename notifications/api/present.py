"""The JSON of notifications: Mastodon's Notification and NotificationGroup, from cached parts."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import orjson

from counters.kinds import DECLARED
from notifications.api.warning_place import warning_field
from notifications.groups import GroupKey
from notifications.queries.groups import ViewedGroup
from notifications.queries.requests import PendingRequests, ViewedRequest
from notifications.queries.viewed_notifications import ViewedNotification
from notifications.types import FILTER_NAMES, Measure, NotificationKind, Policy
from posts.queries.reactions import find_shown_reaction

# What a client gets of an account whose avatar is only one of a row of avatars.
PARTIAL = ("id", "acct", "locked", "bot", "url", "avatar", "avatar_static")


def format_ms(at_ms: int) -> str:
    """A time as the API writes it."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z"


def present_notification(notification: ViewedNotification) -> bytes:
    """A Notification."""
    row = notification.row
    head = b'{"id":"%d","type":"%b","group_key":"%b","created_at":"%b","account":%b' % (
        row.id,
        NotificationKind(row.kind).public.encode(),
        GroupKey.of(row).text.encode(),
        format_ms(row.at_ms).encode(),
        notification.account,
    )
    if row.decision_id is not None:
        return b"%b,%b}" % (head, warning_field(row.decision_id))
    head += _reaction_field(row.kind)
    return b'%b,"status":%b}' % (head, notification.status) if notification.status else head + b"}"


def _reaction_field(kind: int) -> bytes:
    """Which reaction it is; empty for other kinds, and if its name cannot be looked up."""
    if kind not in DECLARED:
        return b""
    shown = find_shown_reaction(kind)
    return b',"reaction":%b' % orjson.dumps(shown.named) if shown else b""


def present_groups(groups: Sequence[ViewedGroup], is_partial: bool) -> bytes:
    """A GroupedNotificationsResults: the groups, and each account and status once.

    `is_partial`: of each group only the newest account is whole.
    """
    whole = {group.newest.row.from_id: group.newest.account for group in groups}
    others = {member.row.from_id: member.account for group in groups for member in group.sample}
    statuses = {
        group.newest.row.post_id: group.newest.status for group in groups if group.newest.status
    }
    partial = b""
    if is_partial:
        accounts = [_partial(text) for i, text in others.items() if i not in whole]
        partial = b'"partial_accounts":[%b],' % b",".join(accounts)
    else:
        whole = others | whole
    return b'{"accounts":[%b],%b"statuses":[%b],"notification_groups":[%b]}' % (
        b",".join(whole.values()),
        partial,
        b",".join(status for status in statuses.values() if status),
        b",".join(map(_present_group, groups)),
    )


def _present_group(group: ViewedGroup) -> bytes:
    newest, first, last = group.newest.row, group.paged[0].row, group.paged[-1].row
    sample = dict.fromkeys(str(member.row.from_id) for member in group.sample)
    fields: dict[str, object] = {
        "group_key": group.key.text,
        "notifications_count": len(group.members),
        "type": NotificationKind(newest.kind).public,
        "most_recent_notification_id": newest.id,
        "page_min_id": str(last.id),
        "page_max_id": str(first.id),
        "latest_page_notification_at": format_ms(first.at_ms),
        "sample_account_ids": list(sample),
    }
    if newest.post_id is not None:
        fields["status_id"] = newest.post_id.public
    body = orjson.dumps(fields)[:-1]
    if newest.decision_id is not None:
        return b"%b,%b}" % (body, warning_field(newest.decision_id))
    return b"%b%b}" % (body, _reaction_field(newest.kind))


def _partial(account: bytes) -> bytes:
    entity = orjson.loads(account)
    return orjson.dumps({name: entity[name] for name in PARTIAL})


def present_request(request: ViewedRequest) -> bytes:
    """A NotificationRequest. Its id is that of the account."""
    newest, oldest = request.members[0], request.members[-1]
    return b'{"id":"%d","created_at":"%b","updated_at":"%b","notifications_count":"%d",' % (
        request.from_id,
        format_ms(oldest.row.at_ms).encode(),
        format_ms(newest.row.at_ms).encode(),
        len(request.members),
    ) + b'"account":%b,"last_status":%b}' % (newest.account, newest.status or b"null")


def present_policy(policy: Policy, pending: PendingRequests) -> dict[str, object]:
    """A NotificationPolicy."""
    measures = {name: Measure(value).public for name, value in policy._asdict().items()}
    return {**measures, "summary": _summary(pending)}


def present_policy_v1(policy: Policy, pending: PendingRequests) -> dict[str, object]:
    """A NotificationPolicy of version 1, which knows no dropping and no limited accounts."""
    filters = {
        name: getattr(policy, column) is not Measure.ACCEPT for name, column in FILTER_NAMES.items()
    }
    return {**filters, "summary": _summary(pending)}


def _summary(pending: PendingRequests) -> dict[str, int]:
    return {
        "pending_requests_count": pending.requests,
        "pending_notifications_count": pending.notifications,
    }


def join(items: Iterable[bytes]) -> bytes:
    """A JSON array of ready-made JSON."""
    return b"[%b]" % b",".join(items)
