"""Errors of accounts."""

from infra.api.errors import NotFound, TidelineError


class AccountNotFound(NotFound):
    """No account has this id, or its row does not exist yet."""


class AccountPurged(TidelineError):
    """The account's data is deleted or being deleted, so it cannot be restored."""

    text = "This account is purged"
