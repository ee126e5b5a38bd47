"""Writes the first post of the thread to replies that were published by old code."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Row, Table, walk_table
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import execute, fetch_all
from posts.cache.single_posts import drop_single_posts
from posts.cache.weeks import WEEKS, week_of
from posts.ids import PostId
from posts.types import Kind

REPLIES = Table(
    "posts_post",
    ("author_id", "moment"),
    ("target_author", "target_moment"),
    where=f"kind = {int(Kind.REPLY)} AND thread_author IS NULL AND deleted_at IS NULL",
)
# A chain of replies that is longer is cut: its posts are a thread of their own.
MOST_ANCESTORS = 1_000
ANCESTORS = """
SELECT author_id, moment, kind, target_author, target_moment, thread_author, thread_moment
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment)
"""
WRITE = """
UPDATE posts_post AS post SET thread_author = first_author, thread_moment = first_moment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
    AS found (author_id, moment, first_author, first_moment)
WHERE (post.author_id, post.moment) = (found.author_id, found.moment)
    AND thread_author IS NULL AND deleted_at IS NULL
"""


class _Ancestor(NamedTuple):
    """`parent`: the post that it answers, None for no reply. `thread`: None if it names none."""

    parent: PostId | None
    thread: PostId | None


def backfill_threads(work: Work) -> Iterator[Batch]:
    """Replies that name no thread, a batch of posts each.

    Safety: idempotent, and correct while writes go on. A deleted ancestor still leads to the first
    post; one whose row was purged counts as the first. Raises: RedisError, and the errors of
    UNREACHABLE; resume then. Cost: one query per shard for each level of replies, one statement.
    """
    for alias, rows, position in walk_table(work, REPLIES):
        parents = {PostId.at(*row[:2]): PostId.at(*row[2:]) for row in rows}
        threads = _find_threads(parents)
        if not work.dry_run:
            _write(alias, threads)
        yield Batch(len(rows), 0, alias, len(rows), position)


def _find_threads(parents: Mapping[PostId, PostId]) -> dict[PostId, PostId]:
    """The first post of the thread of each reply. `parents`: the posts that they answer."""
    threads, at = {}, dict(parents)
    for _ in range(MOST_ANCESTORS):
        ancestors = _read_ancestors(set(at.values()))
        for reply, post in list(at.items()):
            ancestor = ancestors.get(post, _Ancestor(None, None))
            if ancestor.thread is None and ancestor.parent is not None:
                at[reply] = ancestor.parent
            else:
                threads[reply] = ancestor.thread or post
                del at[reply]
        if not at:
            break
    return threads | at


def _read_ancestors(posts: Iterable[PostId]) -> dict[PostId, _Ancestor]:
    by_author: dict[int, list[PostId]] = {}
    for post in posts:
        by_author.setdefault(post.author_id, []).append(post)
    calls = {
        alias: partial(_read_on, alias, [i for author in authors for i in by_author[author]])
        for alias, authors in group_by_shard(by_author).items()
    }
    return {
        PostId.at(*row[:2]): _ancestor_of(row) for part in scatter(calls).values() for row in part
    }


def _read_on(alias: str, ids: list[PostId]) -> list[Row]:
    return fetch_all(alias, ANCESTORS, ([i.author_id for i in ids], [i.moment for i in ids]))


def _ancestor_of(row: Row) -> _Ancestor:
    kind, target, thread = row[2], row[3:5], row[5:7]
    parent = PostId.at(*target) if kind == Kind.REPLY else None
    return _Ancestor(parent, None if thread[0] is None else PostId.at(*thread))


def _write(alias: str, threads: Mapping[PostId, PostId]) -> None:
    """Writes the rows, then drops what caches have of the replies."""
    pairs = [(i.author_id, i.moment, first.author_id, first.moment) for i, first in threads.items()]
    execute(alias, WRITE, [list(column) for column in zip(*pairs, strict=True)])
    failpoint("posts.threads_written")
    weeks = dict.fromkeys(map(week_of, threads))
    dropped = [WEEKS.drop_command(*week) for week in weeks]
    redis().run([*dropped, *drop_single_posts(threads)])
