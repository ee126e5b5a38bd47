"""Locks a user out, and lets them in again."""

from django.db import transaction

from accounts.actions.end_tokens import end_tokens_of_user
from accounts.models import User
from infra.sharding.placement import GLOBAL_ALIAS


def suspend_user(user_id: int) -> None:
    """No log-in and no token of theirs works from here on. Safety: idempotent.

    A token given out while this runs is refused too, at the latest when its cache entry runs out.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        User.objects.filter(pk=user_id).update(is_active=False)
        end_tokens_of_user(user_id)


def reinstate_user(user_id: int) -> None:
    """They may log in again; the tokens they had stay ended. Safety: idempotent."""
    User.objects.filter(pk=user_id).update(is_active=True)
