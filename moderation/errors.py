"""What can be wrong with what moderators, and those they judge, ask for."""

from infra.api.errors import NotAllowed, NotFound, TidelineError


class DecisionNeedsReason(TidelineError):
    text = "Give a reason"


class CannotModerateStaff(NotAllowed):
    """Only superusers judge those who work here."""

    text = "This account is of somebody who works here: only a superuser can judge it"


class NotSuspended(TidelineError):
    text = "Only a suspended account can be purged"


class PostIsDeleted(TidelineError):
    text = "This post is deleted: nothing is left of it to hide or show"


class ReportNotFound(NotFound):
    pass


class StrikeNotFound(NotFound):
    pass


class AlreadyAppealed(TidelineError):
    text = "Validation failed: Strike has been appealed already"


class AppealDecided(TidelineError):
    text = "This appeal is decided"
