"""The locks of users' rows on the default database."""

from collections.abc import Collection

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


def lock_free_users(user_ids: Collection[int]) -> dict[int, User]:
    """As `lock_user`, those of these users that exist and that no other transaction holds.

    Raises: NotInTransaction. Cost: one statement; it does not wait.
    """
    if not connections[GLOBAL_ALIAS].in_atomic_block:
        raise NotInTransaction("a lock needs a transaction to hold it")
    users = User.objects.using(GLOBAL_ALIAS).select_for_update(no_key=True, skip_locked=True)
    return {user.pk: user for user in users.filter(pk__in=user_ids).order_by("pk")}
