"""Errors of tags."""

from infra.api.errors import NotFound, TidelineError


class TagNotFound(NotFound):
    """The text is not a tag."""


class TooManyFollowedTags(TidelineError):
    text = "Validation failed: You follow too many tags already"


class TooManyFeaturedTags(TidelineError):
    text = "Validation failed: You feature too many tags already"
