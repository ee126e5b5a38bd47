"""Errors of moderation, for moderators and for accounts that report or appeal."""

from infra.api.errors import NotAllowed, NotFound, TidelineError


class DecisionNeedsReason(TidelineError):
    text = "Give a reason"


class CannotModerateStaff(NotAllowed):
    """Only superusers decide on accounts of staff."""

    text = "This account belongs to staff: only a superuser can decide on it"


class NotSuspended(TidelineError):
    text = "Only a suspended account can be purged"


class SuspensionEnds(TidelineError):
    """A purge would take the data of a person who comes back."""

    text = "This suspension ends by itself: suspend the account without an end first"


class EndIsOver(TidelineError):
    text = "The end must be in the future"


class EndsNever(TidelineError):
    text = "Only limit, freeze and suspend can have an end"


class DeletedByOwner(TidelineError):
    """The end of such a suspension would bring back what its owner deleted."""

    text = "The owner deleted this account: its suspension cannot have an end"


class DeactivatedByProduct(TidelineError):
    """The end of such a suspension would bring back what the product has deactivated."""

    text = "The product deactivated this account: suspend it without an end"


class OwnerDeletedIt(TidelineError):
    """A decision on several would bring back what its owner deleted."""

    text = "Its owner deleted this account: restore it on its own page"


class SentBefore(TidelineError):
    """The key of a form counts once. Other choices need a form of their own."""

    text = (
        "This form was sent before, with other choices. Those were carried out, and these were not:"
        " check them and send them again"
    )


class AboutItIsOpen(TidelineError):
    """A report is resolved after all that was decided about its account."""

    text = "Left open: a decision about this account is not done"


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
