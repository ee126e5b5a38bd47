"""Errors of moderation, for moderators and for accounts that report or appeal."""

from infra.api.errors import NotAllowed, NotFound, TidelineError


class DecisionNeedsReason(TidelineError):
    text = "Give a reason"


class CannotModerateStaff(NotAllowed):
    """Only superusers decide on accounts of staff."""

    text = "This account belongs to staff: only a superuser can decide on it"


class NotSuspended(TidelineError):
    text = "Only a suspended account can be purged"


class PostIsDeleted(TidelineError):
    text = "This post is deleted: it cannot be hidden or shown"


class ReportNotFound(NotFound):
    pass


class StrikeNotFound(NotFound):
    pass


class UnknownRule(TidelineError):
    """Mastodon's text."""

    text = "Validation failed: Rule ids do not reference valid rules"


class AlreadyAppealed(TidelineError):
    text = "Validation failed: Strike has been appealed already"


class AppealDecided(TidelineError):
    text = "This appeal is already decided"
