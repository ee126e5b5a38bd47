"""Writes many posts at once, without the actions that publish one."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.conf import settings

from infra.sharding.buckets import group_by_shard
from infra.sharding.sql import execute
from lab.bench.world import TEXT
from operations.demo.load import in_batches
from posts.ids import EPOCH, SEQUENCES, PostId
from posts.sql import ANALYZE_POSTS, INSERT_POSTS
from timelines.recent.days import PARTITIONS, first_second, kept_days, oldest_read
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.sql import ANALYZE_RECENT_POSTS, INSERT_RECENT_POSTS

# Only rows: the counts of posts are not written, so the compensator reports drift.
WRITE = f"""
{INSERT_POSTS}
SELECT author_id, (second - {EPOCH}) * {SEQUENCES}, %(text)s, false, ''
FROM unnest(%(authors)s::bigint[], %(seconds)s::bigint[]) AS post(author_id, second)
"""
INDEX = f"""
{INSERT_RECENT_POSTS}
SELECT author_id, (second - {EPOCH}) * {SEQUENCES}
FROM unnest(%(authors)s::bigint[], %(seconds)s::bigint[]) AS post(author_id, second)
WHERE second - {EPOCH} >= %(oldest)s
"""


# A statement must end within STATEMENT_TIMEOUT_MS.
POSTS_A_STATEMENT = 50_000


class BulkPost(NamedTuple):
    """`second`: Unix seconds. An author has one post a second at most."""

    author: int
    second: int

    @property
    def id(self) -> PostId:
        return PostId(self.second - EPOCH, self.author, 0)


def spread_posts(
    authors: Sequence[int], each: int, start: int, end: int, seed: int
) -> Iterator[BulkPost]:
    """Posts at even intervals, oldest first. Each round has a new order of authors."""
    dice, count = random.Random(seed), len(authors) * each
    order = (author for _ in range(each) for author in dice.sample(authors, len(authors)))
    return (BulkPost(author, start + n * (end - start) // count) for n, author in enumerate(order))


def write_posts(posts: Sequence[BulkPost]) -> None:
    """Writes the rows of the posts, and of the recent-posts index of every shard."""
    today = datetime.now(UTC).date()
    oldest = first_second(oldest_read(today))
    by_author: dict[int, list[BulkPost]] = {}
    for post in posts:
        by_author.setdefault(post.author, []).append(post)
    for alias, authors in group_by_shard(by_author).items():
        PARTITIONS.make(alias, kept_days(today))
        own = [post for author in authors for post in by_author[author]]
        for some in in_batches(own, POSTS_A_STATEMENT):
            execute(alias, WRITE, _columns(some) | {"text": TEXT})
    for alias in settings.SHARD_ALIASES:
        for some in in_batches(posts, POSTS_A_STATEMENT):
            execute(alias, INDEX, _columns(some) | {"oldest": oldest})
        lower_low_water_mark(alias, oldest)
        execute(alias, ANALYZE_POSTS)
        execute(alias, ANALYZE_RECENT_POSTS)


def _columns(posts: Sequence[BulkPost]) -> dict[str, object]:
    return {"authors": [post.author for post in posts], "seconds": [post.second for post in posts]}
