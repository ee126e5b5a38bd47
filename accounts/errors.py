"""What can be wrong with accounts and applications."""

from infra.api.errors import NotFound


class AccountNotFound(NotFound):
    """No account has this id, or its row is not laid yet."""
