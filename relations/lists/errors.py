"""Errors of account lists; texts and status codes are Mastodon's."""

from infra.api.errors import NotFound, TidelineError


class ListNotFound(NotFound):
    """The list does not exist, or has another owner; the answer does not say which."""


class NotFollowed(NotFound):
    """Only accounts that the owner follows can be members of a list."""


class TooManyLists(TidelineError):
    text = "Validation failed: You have reached the maximum number of lists"


class TooManyMembers(TidelineError):
    text = "Validation failed: This list has reached the maximum number of accounts"
