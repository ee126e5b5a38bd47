"""Changes a profile: one transaction on the account's shard."""

from django.db import transaction

from accounts.actions.check_profile import edit_faults
from accounts.changes import ProfileChanged
from accounts.errors import AccountNotFound
from accounts.types import ProfileEdit
from infra.api.errors import ValidationFailed
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

# The row is the owner's lock, so changing it first orders the changes of one account.
UPDATE = """
UPDATE accounts_account SET version = version + 1,
    display_name = coalesce(%s, display_name), note = coalesce(%s, note),
    is_locked = coalesce(%s, is_locked), is_bot = coalesce(%s, is_bot)
WHERE id = %s
"""


def update_profile(account_id: int, edit: ProfileEdit) -> None:
    """Writes what the edit names; the cached profile follows at once, or by the drain.

    Raises: ValidationFailed, AccountNotFound. Cost: two statements.
    """
    faults = edit_faults(edit)
    if faults:
        raise ValidationFailed(faults)
    alias = shard_of(account_id)
    row = (edit.display_name, edit.note, edit.is_locked, edit.is_bot, account_id)
    with transaction.atomic(using=alias):
        if not execute(alias, UPDATE, row):
            raise AccountNotFound
        append_change(alias, account_id, ProfileChanged())
