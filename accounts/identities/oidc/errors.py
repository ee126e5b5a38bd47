"""Errors of signing in at another site."""

from infra.api.errors import TidelineError


class ProviderAway(TidelineError):
    """The provider does not answer, or not as it must."""

    status = 503
    text = "The site that knows you does not answer at the moment"
    headers = {"Retry-After": "10"}


class SignInFailed(TidelineError):
    """What came back is not the answer to the question of this browser."""

    status = 400
    text = "Signing in did not work. Try again"
