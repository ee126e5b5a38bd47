"""What can be wrong with accounts and applications."""

from infra.api.errors import NotFound, TidelineError


class AccountNotFound(NotFound):
    """No account has this id, or its row is not laid yet."""


class AccountPurged(TidelineError):
    """What the account had is deleted, or being deleted: it cannot come back."""

    text = "This account is purged"
