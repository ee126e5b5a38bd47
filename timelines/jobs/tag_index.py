"""Compares the tag index with the posts and with its lists in Redis, and fills it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding, compare_again
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece, walk_table
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.actions.end_lost_post import LostPost, end_lost_post
from posts.ids import PostId
from posts.queries.responses import read_states
from posts.sql import TAGGED_POSTS
from timelines.tags.actions.index_posts import add_missing, index_posts, read_tags
from timelines.tags.entries import push_tag_entries, tag_entries_store
from timelines.tags.sql import TAG_NAMES
from timelines.tags.types import tag_id_of
from timelines.types import Entry


class IndexedTag(NamedTuple):
    """A row of the index, with the name of its tag."""

    post_id: PostId
    name: str


def judge_indexed(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Rows of the index without such a post.

    Cost: one or two queries per shard of the authors; the same again while changes are pending.
    """
    gone = compare_again(_read_indexed(piece), _find_gone, run.pause)
    known = {post_id for alias, ids in _by_shard(gone).items() for post_id in _read(alias, ids)}
    return (_gone(indexed, indexed.post_id in known) for indexed in gone)


def judge_lists(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Rows of the index that the list of their tag in Redis lacks. Cost: one round trip."""
    for post_id, name in compare_again(_read_indexed(piece), _find_unlisted, run.pause):
        line = f"account {post_id.author_id}: post {post_id.public} is not listed under #{name}"
        yield AuditFinding(line, partial(push_tag_entries, {post_id: [name]}))


def _read_indexed(piece: Piece) -> list[IndexedTag]:
    names = dict(fetch_all(piece.alias, TAG_NAMES, ([row[0] for row in piece.rows],)))
    return [IndexedTag(PostId(*row[1:4]), names[row[0]]) for row in piece.rows]


def _find_unlisted(rows: Sequence[IndexedTag]) -> list[IndexedTag]:
    """Those that the list of their tag should have and lacks, if Redis has one. One round trip."""
    tag_ids = {row.name: tag_id_of(row.name) for row in rows}
    lists = tag_entries_store().peek(list(tag_ids.values()))
    listed = {tag_id: frozenset(live.packed) for tag_id, live in lists.items()}
    return [
        row
        for row in rows
        if (live := lists.get(tag_ids[row.name])) is not None
        and row.post_id.second >= live.complete_from
        and Entry.of_post(row.post_id).packed not in listed[tag_ids[row.name]]
    ]


def _find_gone(rows: Sequence[IndexedTag]) -> list[IndexedTag]:
    """Those whose post is not public, is deleted or has not the tag. One query per shard."""
    tags: dict[PostId, list[str]] = {}
    for alias, ids in _by_shard(rows).items():
        tags |= read_tags(alias, ids)
    return [row for row in rows if row.name not in tags.get(row.post_id, ())]


def _by_shard(rows: Sequence[IndexedTag]) -> Mapping[str, list[PostId]]:
    groups: dict[str, list[PostId]] = {}
    for post_id in dict.fromkeys(row.post_id for row in rows):
        groups.setdefault(shard_of(post_id.author_id), []).append(post_id)
    return groups


def _read(alias: str, ids: Sequence[PostId]) -> Iterator[PostId]:
    """Those of the posts that have a row, deleted or not."""
    return iter(read_states(alias, ids))


def _gone(indexed: IndexedTag, has_row: bool) -> AuditFinding:
    line = (
        f"account {indexed.post_id.author_id}: post {indexed.post_id.public} with #{indexed.name}"
    )
    if has_row:
        remove = partial(index_posts, {}, {indexed.post_id: [indexed.name]})
        return AuditFinding(f"{line} is no longer so, and still indexed", remove)
    lost = LostPost(indexed.post_id, tags=(indexed.name,))
    return AuditFinding(f"{line} was lost", partial(end_lost_post, lost))


def judge_tagged(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Public posts with tags that the index lacks. Cost: as `judge_indexed`."""
    ids = [PostId.at(*row[:2]) for row in piece.rows]
    for post_id in compare_again(ids, partial(_find_unindexed, piece.alias), run.pause):
        line = f"account {post_id.author_id}: tags of post {post_id.public} are not indexed"
        yield AuditFinding(line, partial(_index, piece.alias, post_id))


def _find_unindexed(alias: str, ids: Sequence[PostId]) -> list[PostId]:
    """Those of the posts of one shard that the index lacks under one of their tags."""
    tags = read_tags(alias, ids)
    if not add_missing(tags, dry_run=True):
        return []
    return [i for i in ids if i in tags and add_missing({i: tags[i]}, dry_run=True)]


def _index(alias: str, post_id: PostId) -> None:
    """Under the tags that the post has now."""
    add_missing(read_tags(alias, [post_id]), dry_run=False)


def backfill_tags(work: Work) -> Iterator[Batch]:
    """Adds the public posts with tags that the index lacks, a batch at a time.

    Safety: idempotent, also during writes. A post that is deleted during its batch may leave a row,
    which readers skip. Cost: per batch one query, and two statements for each shard with a tag.
    """
    for alias, rows, position in walk_table(work, TAGGED_POSTS):
        tags = {PostId.at(author_id, moment): names for author_id, moment, names in rows}
        missing = add_missing(tags, work.dry_run)
        yield Batch(len(rows), 0, alias, missing, position)
