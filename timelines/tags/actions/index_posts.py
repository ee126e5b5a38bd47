"""Writes the tag index: which public posts have which tags, on the shards of the tags."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from django.db import transaction

from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import Statement, execute, fetch_all, fetch_pipelined
from posts.ids import PostId
from posts.sql import TAGS_OF_PUBLIC_POSTS
from timelines.recent.actions.settle_posts import NOW_MS, SETTLE_MS, settle_in_time
from timelines.tags.entries import push_tag_entries
from timelines.tags.models import LONGEST_NAME
from timelines.tags.types import tag_id_of

# In key order, so that two statements with the same tags cannot deadlock.
NAME = """
INSERT INTO tags_tag (tag_id, name) SELECT * FROM unnest(%s::bigint[], %s::text[]) ORDER BY 1
ON CONFLICT DO NOTHING
"""
ADD = """
INSERT INTO tags_taggedpost (tag_id, second, author_id, sequence)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[]) ORDER BY 1, 2, 3, 4
ON CONFLICT DO NOTHING
"""
# Rows that the index lacked for long: no poll returns them.
ADD_OLD = """
INSERT INTO tags_taggedpost (tag_id, second, author_id, sequence, arrival)
SELECT *, 0 FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING
"""
# In key order as well.
SETTLE = f"""
UPDATE tags_taggedpost AS post SET arrival = {NOW_MS} + %s
FROM (
    SELECT late.* FROM tags_taggedpost AS late
    JOIN unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
        AS one (tag_id, second, author_id, sequence) USING (tag_id, second, author_id, sequence)
    WHERE late.arrival < {NOW_MS} - {SETTLE_MS}
    ORDER BY 1, 2, 3, 4 FOR UPDATE OF late
) AS wanted
WHERE (post.tag_id, post.second, post.author_id, post.sequence)
    = (wanted.tag_id, wanted.second, wanted.author_id, wanted.sequence)
"""  # noqa: S608
REMOVE = """
DELETE FROM tags_taggedpost AS p
USING unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
    AS gone (tag_id, second, author_id, sequence)
WHERE (p.tag_id, p.second, p.author_id, p.sequence)
    = (gone.tag_id, gone.second, gone.author_id, gone.sequence)
"""

TagsByPost = Mapping[PostId, Collection[str]]


class TaggedRow(NamedTuple):
    """A row of the index, with the name of its tag."""

    tag_id: int
    name: str
    post_id: PostId

    @property
    def key(self) -> tuple[int, int, int, int]:
        return (self.tag_id, *self.post_id)


def read_tags(alias: str, ids: Collection[PostId]) -> dict[PostId, list[str]]:
    """The tags of those posts, all of one shard, that are live and public now. One query by key."""
    columns = ([i.author_id for i in ids], [i.moment for i in ids])
    return {PostId.at(*row[:2]): row[2] for row in fetch_all(alias, TAGS_OF_PUBLIC_POSTS, columns)}


def index_posts(tags: TagsByPost, gone: TagsByPost | None = None) -> None:
    """Adds the posts to the index under `tags`, and removes them from under `gone`.

    Safety: idempotent. Cost: one transaction for each shard that has one of the tags, in parallel.
    """
    added, removed = _by_shard(tags), _by_shard(gone or {})
    scatter(
        {
            alias: partial(_write, alias, added.get(alias, []), removed.get(alias, []))
            for alias in added.keys() | removed.keys()
        }
    )


def settle_tagged(tags: TagsByPost) -> None:
    """Records that these posts became visible under these tags only now, if their rows arrived more
    than SETTLE_MS ago: the transaction took long, or a drain died after it.
    Call it after `index_posts`, before the change is filed: a drain that dies is repeated, and the
    repetition settles.

    Safety: idempotent. Cost: one statement on each shard that has one of the tags, and one more
    after each that took longer than SETTLE_MS.
    """
    scatter({alias: partial(_settle, alias, rows) for alias, rows in _by_shard(tags).items()})


def add_missing(tags: TagsByPost, dry_run: bool) -> int:
    """Adds the posts that the index lacks, and returns how many rows those are.

    Raises RedisError: then the lists of the tags in Redis lack them, and the caller runs again.
    """
    calls = {
        alias: partial(_count_missing if dry_run else _add_old, alias, rows)
        for alias, rows in _by_shard(tags).items()
    }
    missing = sum(scatter(calls).values())
    if not dry_run:
        push_tag_entries(tags)
    return missing


def _by_shard(tags: TagsByPost) -> dict[str, list[TaggedRow]]:
    rows: dict[str, list[TaggedRow]] = {}
    for post_id, names in tags.items():
        for name in names:
            if len(name) <= LONGEST_NAME:
                row = TaggedRow(tag_id_of(name), name, post_id)
                rows.setdefault(shard_of(row.tag_id), []).append(row)
    return rows


def _write(alias: str, added: Collection[TaggedRow], removed: Collection[TaggedRow]) -> None:
    statements = []
    if removed:
        statements.append(Statement(REMOVE, _columns(removed)))
    if added:
        statements += [Statement(NAME, _names(added)), Statement(ADD, _columns(added))]
    with transaction.atomic(using=alias):
        fetch_pipelined(alias, statements)


def _add_old(alias: str, rows: Collection[TaggedRow]) -> int:
    with transaction.atomic(using=alias):
        execute(alias, NAME, _names(rows))
        return execute(alias, ADD_OLD, _columns(rows))


def _settle(alias: str, rows: Collection[TaggedRow]) -> None:
    settle_in_time(lambda ahead_ms: execute(alias, SETTLE, (ahead_ms, *_columns(rows))))


COUNT = """
SELECT tag_id, second, author_id, sequence FROM tags_taggedpost
JOIN unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
    AS wanted (tag_id, second, author_id, sequence) USING (tag_id, second, author_id, sequence)
"""


def _count_missing(alias: str, rows: Collection[TaggedRow]) -> int:
    return len({row.key for row in rows}) - len(fetch_all(alias, COUNT, _columns(rows)))


def _names(rows: Iterable[TaggedRow]) -> list[list[object]]:
    names = {row.tag_id: row.name for row in rows}
    return [list(names), list(names.values())]


def _columns(rows: Iterable[TaggedRow]) -> list[list[int]]:
    return [list(column) for column in zip(*(row.key for row in rows), strict=True)]
