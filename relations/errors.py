"""What can be wrong with a relation; the status codes are Mastodon's."""

from infra.api.errors import NotAllowed, TidelineError, TooManyRequests


class CannotFollowSelf(NotAllowed):
    pass


class CannotFollowBlocked(NotAllowed):
    """One of the two has blocked the other; the answer does not say which."""


class CannotBlockSelf(NotAllowed):
    pass


class CannotMuteSelf(NotAllowed):
    pass


class FollowCapReached(TidelineError):
    text = "Validation failed: You are following too many people already"


class TooManyFollowsToday(TooManyRequests):
    """`Retry-After` leads to midnight UTC, when the count begins anew."""

    text = "You have followed too many people today"


class TooManyDeepPages(TooManyRequests):
    """Too many readers are far down in lists of followers; `Retry-After` says when to come back."""
