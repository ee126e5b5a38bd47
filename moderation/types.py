"""Values of moderation.

What moderators' decisions do, in a sentence for the person, by the word of the API.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from accounts.types import Restriction
from posts.ids import PostId

# Of the choices of a joint decision.
CHECKSUM_BYTES = 16


class DecisionKind(StrEnum):
    """The kinds of decisions that moderators take. Stored as the word."""

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


# The restriction that each decision adds to an account; a warning adds none.
ADDED_RESTRICTIONS = {
    DecisionKind.WARN: Restriction.NONE,
    DecisionKind.LIMIT: Restriction.LIMITED,
    DecisionKind.FREEZE: Restriction.FROZEN,
    DecisionKind.SUSPEND: Restriction.SUSPENDED,
}
# Only these can have an end.
TIMED_DECISIONS = (DecisionKind.LIMIT, DecisionKind.FREEZE, DecisionKind.SUSPEND)
OWNER_DELETED = "The owner deleted the account"
PRODUCT_DEACTIVATED = "The product deactivated the account"
PRODUCT_ACTIVATED = "The product activated the account again"
TIME_IS_OVER = "The time is over"
ACCOUNT_DECISIONS = (*ADDED_RESTRICTIONS, DecisionKind.RESTORE)
POST_DECISIONS = (DecisionKind.HIDE, DecisionKind.SHOW, DecisionKind.DELETE)
# The account can read these decisions, and appeal against them.
STRIKES = (*ADDED_RESTRICTIONS, DecisionKind.HIDE, DecisionKind.DELETE)


class TargetState(StrEnum):
    """How far one of several targets is."""

    WAITING = "waiting"
    DONE = "done"
    UNCHANGED = "unchanged"
    FAILED = "failed"


# These are tried again.
OPEN_STATES = (TargetState.WAITING, TargetState.FAILED)


class ReportState(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"


class AppealState(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Category(StrEnum):
    """Mastodon's categories of reports."""

    SPAM = "spam"
    LEGAL = "legal"
    VIOLATION = "violation"
    OTHER = "other"


class DecisionOrigin(NamedTuple):
    """The origin of a decision: the moderator, the reason, and the report that led to it.

    `actor_id`: a user; None for a command. `report_id`: None without a report.
    """

    actor_id: int | None
    reason: str
    report_id: int | None = None


class JointPlan(NamedTuple):
    """What to do with several targets at once. None, False: nothing with those.

    `accounts`, `posts`: by target, the report that it comes from, or None. `reports`: by report,
    the account that it is about; they are resolved last. `duration`: as chosen, if `ends_at` is so
    long after the moment of the choice; else empty.
    """

    account_kind: DecisionKind | None
    post_kind: DecisionKind | None
    resolves: bool
    ends_at: datetime | None
    reason: str
    accounts: Mapping[int, int | None]
    posts: Mapping[PostId, int | None]
    reports: Mapping[int, int]
    duration: str = ""

    @property
    def checksum(self) -> str:
        """Equal for equal choices, whenever they are sent."""
        end = self.duration or str(self.ends_at)
        posts = sorted((post_id.base36, origin) for post_id, origin in self.posts.items())
        targets = sorted(self.accounts.items()), posts, sorted(self.reports.items())
        kinds = self.account_kind or "", self.post_kind or "", self.resolves
        chosen = repr((*map(str, kinds), end, self.reason, *targets))
        return blake2b(chosen.encode(), digest_size=CHECKSUM_BYTES).hexdigest()


class ReportDraft(msgspec.Struct, frozen=True):
    """A report that an account wants to file. `post_ids`: ids of the account's posts, as sent.

    `rule_ids`: the rules of the site that it breaks.
    """

    account_id: int
    post_ids: tuple[str, ...] = ()
    comment: str = ""
    category: Category = Category.OTHER
    rule_ids: tuple[int, ...] = ()


_EFFECTS = {
    "none": _("The moderators warn you."),
    "disable": _("Your account is frozen: you can read, and write nothing."),
    "silence": _("Your account is limited: only your followers see your posts."),
    "suspend": _("Your account is suspended."),
    "delete_statuses": _("A post of yours was deleted."),
    "hide_statuses": _("A post of yours is hidden."),
    "hide_images": _("A photo of yours is hidden."),
}
_OTHER = _("The moderators decided about your account.")


def effect_of(action: str) -> str:
    """The sentence in the language in force."""
    return gettext(_EFFECTS.get(action, _OTHER))
