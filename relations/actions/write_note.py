"""Private notes about accounts: one row on the owner's shard, which only the owner sees."""

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.changes.append import append_change, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.changes import NoteChanged
from relations.sql import NOTES_TABLE

LONGEST_NOTE = 2_000
# Both change nothing if the row is already as wanted.
WRITE = f"""
INSERT INTO {NOTES_TABLE} AS note (owner_id, target_id, text) VALUES (%s, %s, %s)
ON CONFLICT (owner_id, target_id) DO UPDATE SET text = excluded.text
WHERE note.text <> excluded.text
"""  # noqa: S608
DELETE = f"DELETE FROM {NOTES_TABLE} WHERE owner_id = %s AND target_id = %s"  # noqa: S608


def write_note(owner_id: int, target_id: int, text: str) -> None:
    """Replaces the owner's note about the target; an empty text deletes it. Idempotent.

    Raises: AccountNotFound for the owner. Cost: three statements in one transaction.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        pair = (owner_id, target_id)
        if execute(alias, WRITE, (*pair, text)) if text else execute(alias, DELETE, pair):
            append_change(alias, owner_id, NoteChanged(target_id))
        else:
            finish_interrupted(alias, owner_id)
