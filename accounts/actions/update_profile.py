"""Changes a profile: one transaction on the account's shard."""

from django.db import transaction

from accounts.changes import ProfileChanged
from accounts.errors import AccountNotFound
from accounts.models import DISPLAY_NAME_LENGTH
from accounts.types import ProfileEdit
from infra.api.errors import Fault, ValidationFailed
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

NOTE_LENGTH = 500
# The row is the owner's lock. Updating it first gives the changes of one account one order.
UPDATE = """
UPDATE accounts_account SET version = version + 1,
    display_name = coalesce(%s, display_name), note = coalesce(%s, note),
    is_locked = coalesce(%s, is_locked), is_bot = coalesce(%s, is_bot)
WHERE id = %s
"""


def update_profile(account_id: int, edit: ProfileEdit) -> None:
    """Writes the fields that the edit sets. The cached profile follows inline, or by the drain.

    Raises: ValidationFailed, AccountNotFound. Cost: two statements.
    """
    faults = _edit_faults(edit)
    if faults:
        raise ValidationFailed(faults)
    alias = shard_of(account_id)
    row = (edit.display_name, edit.note, edit.is_locked, edit.is_bot, account_id)
    with transaction.atomic(using=alias):
        if not execute(alias, UPDATE, row):
            raise AccountNotFound
        append_change(alias, account_id, ProfileChanged())


def display_name_faults(text: str) -> list[Fault]:
    return _length_faults("display_name", text, DISPLAY_NAME_LENGTH)


def _edit_faults(edit: ProfileEdit) -> list[Fault]:
    note_faults = _length_faults("note", edit.note or "", NOTE_LENGTH)
    return [*display_name_faults(edit.display_name or ""), *note_faults]


def _length_faults(field: str, text: str, most: int) -> list[Fault]:
    if len(text) <= most:
        return []
    return [Fault(field, "ERR_TOO_LONG", f"is too long (maximum is {most} characters)")]
