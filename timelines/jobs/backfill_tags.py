"""Fills the tag index from the posts tables: for an upgrade that brings it, and as a repair."""

from collections.abc import Iterator

from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from posts.ids import PostId
from posts.sql import TAGGED_POSTS
from timelines.tags.actions.index_posts import add_missing


def backfill_tags(work: Work) -> Iterator[Batch]:
    """Adds the public posts with tags that the index lacks, a batch at a time.

    Safety: idempotent, also during writes. A post that is deleted during its batch may leave a row,
    which readers skip. Cost: per batch one query, and two statements for each shard with a tag.
    """
    for alias, rows, position in walk_table(work, TAGGED_POSTS):
        tags = {PostId.at(author_id, moment): names for author_id, moment, names in rows}
        missing = add_missing(tags, work.dry_run)
        yield Batch(len(rows), 0, alias, missing, position)
