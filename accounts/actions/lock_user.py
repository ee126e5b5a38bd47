"""The lock of a user's row on the default database."""

from django.db import connections

from accounts.errors import AccountNotFound
from accounts.models import User
from infra.changes.errors import NotInTransaction
from infra.sharding.placement import GLOBAL_ALIAS


def lock_user(user_id: int) -> User:
    """The user's row, locked until the caller's transaction ends.

    The lock gives restrictions, passwords and sessions of one account one order. Raises:
    AccountNotFound, NotInTransaction.
    """
    if not connections[GLOBAL_ALIAS].in_atomic_block:
        raise NotInTransaction("a lock needs a transaction to hold it")
    user = User.objects.select_for_update(no_key=True).filter(pk=user_id).first()
    if user is None:
        raise AccountNotFound
    return user
