"""Makes authors hot when they have HOT_FOLLOWERS followers."""

import structlog
from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from timelines.hot.queries.hot_authors import load_follower_counts

HEAT = """
INSERT INTO timelines_hotauthor (author_id, is_cooling) VALUES (%s, false)
ON CONFLICT (author_id) DO UPDATE SET is_cooling = false
"""
log = structlog.get_logger()


def heat_if_hot(author_id: int) -> None:
    """Makes the author hot when the followers are enough. The current post is still pushed.

    Cost: one query by key, on the author's shard; one more statement when the author is heated.
    """
    alias = shard_of(author_id)
    if load_follower_counts(alias, [author_id])[author_id] >= settings.HOT_FOLLOWERS:
        heat_author(alias, author_id)
        log.info("author.heated", author=author_id)


def heat_author(alias: str, author_id: int) -> None:
    """Nothing is pushed from the next batch of the author's lane on. Safety: idempotent."""
    execute(alias, HEAT, (author_id,))
