"""What can be wrong with a relation; the status codes are Mastodon's."""

from infra.api.errors import TidelineError


class CannotFollowSelf(TidelineError):
    status = 403
    text = "This action is not allowed"


class FollowCapReached(TidelineError):
    status = 422
    text = "Validation failed: You are following too many people already"
