"""Errors of posts. The status codes are Mastodon's."""

from infra.api.errors import NotFound, TidelineError


class PostNotFound(NotFound):
    pass


class ParentNotFound(NotFound):
    text = "The post you are trying to reply to does not appear to exist."


class EmptyPost(TidelineError):
    text = "Validation failed: Text can't be blank"


class PostTooLong(TidelineError):
    def __init__(self, most: int) -> None:
        super().__init__(f"Validation failed: Text character limit of {most} exceeded")


class InvalidDraft(TidelineError):
    pass
