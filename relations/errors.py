"""Errors of relations; the status codes are Mastodon's."""

from infra.api.errors import NotAllowed, NotFound, TidelineError, TooManyRequests
from relations.types import Edge


class EdgeMoved(Exception):
    """The edge is not the one that the writer has seen. `edge`: the edge as it is now."""

    def __init__(self, edge: Edge) -> None:
        super().__init__(edge)
        self.edge = edge


class CannotFollowSelf(NotAllowed):
    pass


class CannotFollowBlocked(NotAllowed):
    """One of the two has blocked the other; the answer does not say which."""


class FollowRequestNotFound(NotFound):
    """The account did not ask to follow, or the request was answered or taken back."""


class EndorsedAccountNotFollowed(TidelineError):
    """Only followed accounts can be endorsed, as in Mastodon."""

    text = "Validation failed: You must be already following the person you want to endorse"


class NothingToUndo(NotFound):
    """The unfollow or the mute is too long ago, or something else has happened since."""


class CannotBlockSelf(NotAllowed):
    pass


class CannotMuteSelf(NotAllowed):
    pass


class FollowCapReached(TidelineError):
    text = "Validation failed: You are following too many people already"


class TooManyFollowsToday(TooManyRequests):
    """`Retry-After` leads to midnight UTC, when the count starts again."""

    text = "You have followed too many people today"


class TooManyDeepPages(TooManyRequests):
    """Too many reads of deep followers pages at once; `Retry-After` says when to try again."""
