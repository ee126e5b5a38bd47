"""Errors of identities.

Errors of signing in at another site.
"""

from infra.api.errors import NotFound, TidelineError


class IdentityUnknown(NotFound):
    """No account has this external id."""

    text = "No account has this external id"


class AccountNotReady(TidelineError):
    """The user is there, and the account's row follows: its shard was away a moment ago."""

    status = 503
    text = "The account is being created, try again"
    headers = {"Retry-After": "1"}


class AssertionRefused(TidelineError):
    """A JWT gives no token. The answer has the form of OAuth's own errors."""

    status = 400
    error = "invalid_grant"

    def body(self) -> dict[str, object]:
        return {"error": self.error, "error_description": str(self)}


class ScopeRefused(AssertionRefused):
    """The issuer's people do not get this scope."""

    error = "invalid_scope"
    text = "The issuer's people do not get this scope"


class KeysUnreadable(TidelineError):
    """The keys of an issuer have never been read, or for too long."""

    status = 503
    text = "The keys of the issuer cannot be read at the moment"
    headers = {"Retry-After": "10"}

    def body(self) -> dict[str, object]:
        return {"error": "temporarily_unavailable", "error_description": str(self)}


class ProviderAway(TidelineError):
    """The provider does not answer, or not as it must."""

    status = 503
    text = "The site that knows you does not answer at the moment"
    headers = {"Retry-After": "10"}


class SignInFailed(TidelineError):
    """What came back is not the answer to the question of this browser."""

    status = 400
    text = "Signing in did not work. Try again"
