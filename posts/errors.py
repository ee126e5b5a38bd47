"""Errors of posts. The status codes are Mastodon's."""

from collections.abc import Sequence

from infra.api.errors import NotAllowed, NotFound, TidelineError, TooManyRequests


class PostNotFound(NotFound):
    pass


class PublishedPostGone(TidelineError):
    """A repeated request whose post was deleted or hidden since. It is not published again."""

    status = 410
    text = "The post that this request published was deleted"


class CannotRepost(NotAllowed):
    """A private post of another account, or a direct post: others must not see it."""


class ParentNotFound(NotFound):
    text = "The post you are trying to reply to does not appear to exist."


class QuotedNotFound(NotFound):
    text = "The post you are trying to quote does not appear to exist."


class CannotQuote(NotAllowed):
    """Its author lets only others quote the post, or it is closed."""

    text = "The author of the post does not let you quote it"


class CannotReply(NotAllowed):
    """Its author lets only others reply, or the author of the first post of its thread does."""

    text = "The author of the post does not let you reply"


class QuoteNotFound(NotFound):
    """No live post of this id quotes the caller's post, or that was revoked already."""


class EmptyPost(TidelineError):
    text = "Validation failed: Text can't be blank"


class PostTooLong(TidelineError):
    def __init__(self, most: int) -> None:
        super().__init__(f"Validation failed: Text character limit of {most} exceeded")


class TooManyLinksToday(TooManyRequests):
    """`kind`: mentions or tags. `Retry-After` leads to midnight UTC, when a new count starts."""

    def __init__(self, kind: str, wait_s: int) -> None:
        super().__init__(wait_s)
        self.args = (f"Your posts have too many {kind} today",)


class TooManyEdits(TidelineError):
    def __init__(self, most: int) -> None:
        super().__init__(f"Validation failed: A post can be edited at most {most} times")


class UnknownReaction(NotFound):
    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"Reactions are {', '.join(names)}")


class TooManyMutedThreads(TidelineError):
    def __init__(self, most: int) -> None:
        super().__init__(f"Validation failed: At most {most} threads can be muted")


class NotAuthor(TidelineError):
    text = "Validation failed: Someone else's post cannot be pinned"


class RepostNotPinnable(TidelineError):
    text = "Validation failed: A boost cannot be pinned"


class DirectNotPinnable(TidelineError):
    text = "Validation failed: Posts that are only visible to mentioned users cannot be pinned"


class TooManyPins(TidelineError):
    text = "Validation failed: You have already pinned the maximum number of posts"


class ImagesTaken(TidelineError):
    """An image was removed, or another post took it, while the post was written."""

    text = "Validation failed: Media is not available"


class InvalidDraft(TidelineError):
    pass


class PollNotFound(NotFound):
    pass


class PollIsOver(TidelineError):
    text = "Validation failed: The poll has already ended"


class NoSuchChoice(TidelineError):
    text = "Validation failed: The chosen vote option does not exist"


class AlreadyVoted(TidelineError):
    """Also for several options of a poll that allows one; Mastodon's text is the same."""

    text = "Validation failed: You have already voted on this poll"


class CannotVoteOnOwnPoll(TidelineError):
    text = "Validation failed: You cannot vote in your own polls"
