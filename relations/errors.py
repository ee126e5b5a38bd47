"""What can be wrong with a relation; the status codes are Mastodon's."""

from infra.api.errors import TidelineError, TooManyRequests


class CannotFollowSelf(TidelineError):
    status = 403
    text = "This action is not allowed"


class CannotFollowBlocked(TidelineError):
    """One of the two has blocked the other; the answer does not say which."""

    status = 403
    text = "This action is not allowed"


class CannotBlockSelf(TidelineError):
    status = 403
    text = "This action is not allowed"


class CannotMuteSelf(TidelineError):
    status = 403
    text = "This action is not allowed"


class FollowCapReached(TidelineError):
    status = 422
    text = "Validation failed: You are following too many people already"


class TooManyFollowsToday(TidelineError):
    """`Retry-After` leads to midnight UTC, when the count begins anew."""

    status = 429
    text = "You have followed too many people today"

    def __init__(self, wait_s: int) -> None:
        super().__init__()
        self.headers = {"Retry-After": str(wait_s)}


class TooManyDeepPages(TooManyRequests):
    """Too many readers are far down in lists of followers; `Retry-After` says when to come back."""

    def __init__(self, wait_s: int) -> None:
        super().__init__({"Retry-After": str(wait_s)})
