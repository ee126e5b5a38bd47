"""Values of moderation."""

from enum import StrEnum
from typing import NamedTuple

import msgspec

from accounts.types import Restriction


class DecisionKind(StrEnum):
    """What moderators do. Stored as its word."""

    WARN = "warn"
    LIMIT = "limit"
    FREEZE = "freeze"
    SUSPEND = "suspend"
    RESTORE = "restore"
    PURGE = "purge"
    HIDE = "hide"
    SHOW = "show"
    DELETE = "delete"
    ASSIGN = "assign"
    RESOLVE = "resolve"
    REOPEN = "reopen"
    ACCEPT = "accept"
    REJECT = "reject"


# What each adds to an account; a warning adds nothing.
ADDED_RESTRICTIONS = {
    DecisionKind.WARN: Restriction.NONE,
    DecisionKind.LIMIT: Restriction.LIMITED,
    DecisionKind.FREEZE: Restriction.FROZEN,
    DecisionKind.SUSPEND: Restriction.SUSPENDED,
}
ACCOUNT_DECISIONS = (*ADDED_RESTRICTIONS, DecisionKind.RESTORE)
POST_DECISIONS = (DecisionKind.HIDE, DecisionKind.SHOW, DecisionKind.DELETE)
# What an account is told of, and may appeal against.
STRIKES = (*ADDED_RESTRICTIONS, DecisionKind.HIDE, DecisionKind.DELETE)


class ReportState(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"


class AppealState(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Category(StrEnum):
    """Of reports, as Mastodon has them."""

    SPAM = "spam"
    LEGAL = "legal"
    VIOLATION = "violation"
    OTHER = "other"


class DecisionOrigin(NamedTuple):
    """By whom and why. `actor_id`: a user, None for a command; `report_id`: what it answers."""

    actor_id: int | None
    reason: str
    report_id: int | None = None


class ReportDraft(msgspec.Struct, frozen=True):
    """What somebody reports: an account, and posts of it by their public ids."""

    account_id: int
    post_ids: tuple[str, ...] = ()
    comment: str = ""
    category: Category = Category.OTHER
