"""Errors of filters; texts and status codes are Mastodon's."""

from infra.api.errors import NotFound, TidelineError


class FilterNotFound(NotFound):
    """It does not exist, or has another owner; the answer does not say which."""


class TooManyFilters(TidelineError):
    text = "Validation failed: You have reached the maximum number of filters"


class TooManyFilterRules(TidelineError):
    text = "Validation failed: Your filters have reached the maximum number of keywords or posts"


class FilterKeywordsTooLong(TidelineError):
    def __init__(self, most: int) -> None:
        super().__init__(
            f"Validation failed: The keywords of your filters have more than {most} characters"
        )


class HasOtherKeywords(TidelineError):
    """The old API shows each keyword as a filter, and cannot say that others change with it."""

    text = (
        "Validation failed: These parameters cannot be changed from this application because they"
        " apply to more than one filter keyword. Use a more recent application or the web interface"
    )
