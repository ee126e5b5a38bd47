"""Values of moderation."""

from enum import StrEnum
from typing import NamedTuple

import msgspec

from accounts.types import Restriction


class Act(StrEnum):
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
ADDED = {
    Act.WARN: Restriction.NONE,
    Act.LIMIT: Restriction.LIMITED,
    Act.FREEZE: Restriction.FROZEN,
    Act.SUSPEND: Restriction.SUSPENDED,
}
ON_ACCOUNTS = (*ADDED, Act.RESTORE)
ON_POSTS = (Act.HIDE, Act.SHOW, Act.DELETE)
# What an account is told of, and may appeal against.
STRIKES = (*ADDED, Act.HIDE, Act.DELETE)


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


class Verdict(NamedTuple):
    """By whom and why. `actor_id`: a user, None for a command; `report_id`: what it answers."""

    actor_id: int | None
    reason: str
    report_id: int | None = None


class NewReport(msgspec.Struct, frozen=True):
    """What somebody reports: an account, and posts of it by their public ids."""

    account_id: int
    post_ids: tuple[str, ...] = ()
    comment: str = ""
    category: Category = Category.OTHER
