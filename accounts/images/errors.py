"""Errors of images. The status codes are Mastodon's."""

from infra.api.errors import NotFound, TidelineError


class ImageNotFound(NotFound):
    """Not an image of the caller, or already part of a post."""


class ImageRefused(TidelineError):
    """The upload is no image that Tideline accepts. The client sees why."""


class ImageInUse(TidelineError):
    text = "Media attachment is currently used by a status"


class TooManyImages(TidelineError):
    """The account has uploaded too many images without using them. They expire after a day."""

    status = 429
    text = "Too many images without a post, use some of them or try again tomorrow"


class ImagesUnavailable(TidelineError):
    """The files cannot be written or read at the moment. Nothing was stored.

    `why` is for operators. Clients do not see it.
    """

    status = 503
    text = "Images cannot be stored at the moment, try again"
    headers = {"Retry-After": "5"}

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why
