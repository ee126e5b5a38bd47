"""Carries out all decisions on posts and images of shards again, after a shard was restored."""

from collections.abc import Iterator

from accounts.errors import AccountNotFound
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Table, walk_table
from infra.sharding.buckets import shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.enforce import enforce_on_images, enforce_on_posts
from posts.ids import PostId

DECIDED = Table("moderation_decision", ("id",), ("account_id", "post_id", "image_id"))


def enforce_again(work: Work) -> Iterator[Batch]:
    """Hides, shows or deletes the posts and images of accounts of these shards as decided last.

    A post or image of an account that does not exist is a failed row. Safety: idempotent. Cost: for
    each decision on these shards two queries and a transaction.
    """
    for piece in walk_table(work._replace(aliases=[GLOBAL_ALIAS]), DECIDED):
        rows = [row for row in piece.rows if shard_of(row[1]) in work.aliases]
        failed = [] if work.dry_run else [row[1] for row in rows if not _is_enforced(*row[2:])]
        lines = [
            f"account {account_id}: has a decision, and does not exist" for account_id in failed
        ]
        done = len(piece.rows) - len(failed)
        yield Batch(done, len(failed), piece.alias, None, piece.position, lines)


def _is_enforced(post_id: str, image_id: int | None) -> bool:
    try:
        if post_id:
            enforce_on_posts([PostId.from_base36(post_id)])
        if image_id is not None:
            enforce_on_images([image_id])
    except AccountNotFound:
        return False
    return True
