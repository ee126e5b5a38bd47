"""Writes the conversations of accounts from the direct posts."""

from collections.abc import Iterator

from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from posts.conversations.actions.record_direct_posts import record_as_they_are
from posts.ids import PostId
from posts.sql import DIRECT_POSTS_WRITTEN


def backfill_conversations(work: Work) -> Iterator[Batch]:
    """The rows of conversations that are missing, a batch of direct posts each.

    A conversation that its owner took off the list stays off, unless its rows were lost. Safety:
    idempotent, and correct while writes go on. Cost: two queries a batch, and one statement on each
    shard of the accounts.
    """
    for alias, rows, position in walk_table(work, DIRECT_POSTS_WRITTEN):
        if not work.dry_run:
            record_as_they_are(alias, {PostId.at(*row): () for row in rows})
        yield Batch(len(rows), 0, alias, 0, position)
