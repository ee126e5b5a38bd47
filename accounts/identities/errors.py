"""Errors of identities."""

from infra.api.errors import NotFound, TidelineError


class IdentityUnknown(NotFound):
    """No account has this external id."""

    text = "No account has this external id"


class AccountNotReady(TidelineError):
    """The user is there, and the account's row follows: its shard was away a moment ago."""

    status = 503
    text = "The account is being created, try again"
    headers = {"Retry-After": "1"}
