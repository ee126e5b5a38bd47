"""Writes a viewer mark again whose shard has lost a later write of it."""

from django.db import transaction

from accounts.actions.lock_account import lock_account
from counters.actions.move_counts import move_counts
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.changes import PostMarked
from posts.types import ResponseRow

FIND = """
SELECT is_on, revision, since_ms FROM posts_viewermark
WHERE owner_id = %s AND target_moment = %s AND target_author = %s AND kind = %s
"""
WRITE = """
INSERT INTO posts_viewermark (owner_id, target_moment, target_author, kind, is_on, revision,
    since_ms)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (owner_id, target_moment, target_author, kind) DO UPDATE SET
    is_on = excluded.is_on, revision = excluded.revision, since_ms = excluded.since_ms
"""


def mark_again(lost: ResponseRow, restored_wins: bool) -> None:
    """Writes a reaction with the revision after that of its newer response.

    As the response has it, or (`restored_wins`) as the mark is now; a mark that never was is one
    that ended. So later changes of the mark are newer than the response. Raises: AccountNotFound.
    Safety: idempotent; one transaction on the responder's shard, whose change makes the drain
    record the response again. Cost: five statements.
    """
    owner_id, alias = lost.responder_id, shard_of(lost.responder_id)
    key = (owner_id, lost.moment, lost.author_id, lost.kind)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        was_on, revision, since_ms = fetch_one(alias, FIND, key) or (False, 0, lost.at)
        if revision <= lost.revision:
            is_on = was_on if restored_wins else lost.is_on
            at_ms = since_ms if restored_wins else lost.at
            execute(alias, WRITE, (*key, is_on, lost.revision + 1, at_ms))
            delta = int(is_on) - int(was_on)
            move_counts(
                alias, [CountMove(owner_id, CounterKind.VIEWER_MARKS, delta)] if delta else []
            )
        append_change(alias, owner_id, PostMarked(lost.kind, lost.author_id, lost.moment))
