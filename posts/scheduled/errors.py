"""Errors of scheduled posts. The texts and status codes are Mastodon's."""

from infra.api.errors import NotFound, TidelineError


class ScheduledPostNotFound(NotFound):
    """There is none with this id, it was published, or it is another author's."""


class TooSoon(TidelineError):
    text = "Validation failed: Scheduled at The scheduled date must be at least 5 minutes ahead"


class NoTime(TidelineError):
    text = "Validation failed: Scheduled at must be a date and time (ISO 8601)"


class TooManyScheduled(TidelineError):
    def __init__(self, most: int) -> None:
        super().__init__(
            f"Validation failed: You have exceeded the limit of {most} scheduled posts"
        )


class TooManyOnDay(TidelineError):
    def __init__(self, most: int) -> None:
        text = f"You have exceeded the limit of {most} scheduled posts for that day"
        super().__init__(f"Validation failed: {text}")


class AuthorMayNotPost(TidelineError):
    text = "The account was frozen or suspended at that time"
