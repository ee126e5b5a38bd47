"""What can be wrong with a list; words and status codes are Mastodon's."""

from infra.api.errors import NotFound, TidelineError


class ListNotFound(NotFound):
    """There is none, or it is somebody else's; the answer does not say which."""


class NotFollowed(NotFound):
    """Only whom one follows can be on a list of one's own."""


class TooManyLists(TidelineError):
    text = "Validation failed: You have reached the maximum number of lists"


class TooManyMembers(TidelineError):
    text = "Validation failed: This list has reached the maximum number of accounts"
