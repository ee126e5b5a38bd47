"""Takes a file over, so that its lines are done later."""

from collections.abc import Sequence

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from integrations.brought_lists.errors import FileInWork
from integrations.brought_lists.types import BroughtKind

IS_OPEN = """
SELECT 1 FROM integrations_broughtfile WHERE owner_id = %s AND finished_at IS NULL
"""
DELETE_ROWS = "DELETE FROM integrations_broughtrow WHERE owner_id = %s"
WRITE = """
INSERT INTO integrations_broughtfile (owner_id, kind, lines) VALUES (%s, %s, %s)
ON CONFLICT (owner_id) DO UPDATE SET kind = excluded.kind, lines = excluded.lines,
    started_at = excluded.started_at, goes_on_at = excluded.goes_on_at, finished_at = NULL
"""
WRITE_ROWS = """
INSERT INTO integrations_broughtrow (owner_id, number, cells)
SELECT %s, number, ARRAY(SELECT jsonb_array_elements_text(cells))
FROM unnest(%s::jsonb[]) WITH ORDINALITY AS line (cells, number)
"""


def start_file(owner_id: int, kind: BroughtKind, lines: Sequence[str]) -> None:
    """Stores the lines, each a JSON list of its cells. They replace those of a file that is done.

    Raises: FileInWork, AccountNotFound. Cost: one transaction of five statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        if fetch_one(alias, IS_OPEN, (owner_id,)):
            raise FileInWork
        execute(alias, DELETE_ROWS, (owner_id,))
        execute(alias, WRITE, (owner_id, int(kind), len(lines)))
        execute(alias, WRITE_ROWS, (owner_id, list(lines)))
