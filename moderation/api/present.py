"""Mastodon's Report, AccountWarning and Appeal entities."""

from datetime import UTC, datetime
from typing import Any

import orjson

from moderation.models import Appeal, Decision, Report
from moderation.types import DecisionKind, ReportState

# Mastodon's words, except for hide_statuses and hide_images: Mastodon hides neither.
HIDE_IMAGES, HIDE_STATUSES = "hide_images", "hide_statuses"
ACTIONS = {
    DecisionKind.WARN: "none",
    DecisionKind.FREEZE: "disable",
    DecisionKind.LIMIT: "silence",
    DecisionKind.SUSPEND: "suspend",
    DecisionKind.DELETE: "delete_statuses",
    DecisionKind.HIDE: HIDE_STATUSES,
}
# In notifications clients of Mastodon read them. They know no other words than Mastodon's.
MASTODON_ACTIONS = {HIDE_STATUSES: ACTIONS[DecisionKind.DELETE], HIDE_IMAGES: "none"}


def present_report(report: Report, account: bytes) -> bytes:
    """A Report entity. `account`: the Account entity of the reported account."""
    is_resolved = report.state == ReportState.RESOLVED
    entity = {
        "id": str(report.pk),
        "action_taken": is_resolved,
        "action_taken_at": _iso(report.resolved_at) if report.resolved_at else None,
        "category": report.category,
        "comment": report.comment,
        "forwarded": False,
        "created_at": _iso(report.created_at),
        "status_ids": [post.public for post in report.posts] or None,
        "rule_ids": [str(rule_id) for rule_id in report.rule_ids] or None,
    }
    return b'%b,"target_account":%b}' % (orjson.dumps(entity)[:-1], account)


def present_strike(
    decision: Decision, appeal: Appeal | None, account: bytes, text: str = ""
) -> bytes:
    """A Strike entity: an AccountWarning with more. `account`: the Account entity of the warned
    account. `text`: of the post that the decision is about, which its author sees nowhere else
    while it is hidden."""
    more = {"action": action_of(decision), "status_text": text or None}
    return _present(_fields_of(decision, appeal) | more, account)


def present_warning(decision: Decision, appeal: Appeal | None, account: bytes) -> bytes:
    """An AccountWarning entity, as notifications have it. `account`: as in `present_strike`."""
    measure = action_of(decision)
    more = {"action": MASTODON_ACTIONS.get(measure, measure), "measure": measure}
    return _present(_fields_of(decision, appeal) | more, account)


def action_of(decision: Decision) -> str:
    """What the decision does, in the word of the API."""
    if decision.image_id is not None:
        return HIDE_IMAGES
    return ACTIONS[DecisionKind(decision.kind)]


def _fields_of(decision: Decision, appeal: Appeal | None) -> dict[str, Any]:
    return {
        "id": str(decision.pk),
        "text": decision.reason,
        "status_ids": [decision.post.public] if decision.post else None,
        "appeal": _present_appeal(appeal) if appeal else None,
        "created_at": _iso(decision.created_at),
        "ends_at": _iso(decision.ends_at) if decision.ends_at else None,
    }


def _present(entity: dict[str, Any], account: bytes) -> bytes:
    return b'%b,"target_account":%b}' % (orjson.dumps(entity)[:-1], account)


def _present_appeal(appeal: Appeal) -> dict[str, Any]:
    state = "approved" if appeal.state == "accepted" else appeal.state
    return {"text": appeal.text, "state": state}


def _iso(moment: datetime) -> str:
    at = moment.astimezone(UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"
