"""Deletes posts again whose deletion their shard has lost: it was restored to an earlier moment.

A new post is added to the recent-posts index of every shard, and a deletion removes it from all of
them. So a post that the index of its own restored shard has, and no other index, was deleted after
that moment. Run it before the index of the restored shard is filled again, and at no other time:
it takes the absence of rows for a deletion.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

from infra.jobs.findings import AuditFinding, report_findings
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from infra.sharding.buckets import shard_of
from infra.sharding.shards import shard_aliases
from posts.actions.delete_post import delete_post
from posts.actions.repost import undo_repost
from posts.ids import PostId
from posts.queries.responses import find_live_posts
from posts.types import Kind, Target
from timelines.recent.actions.index_posts import find_unindexed
from timelines.recent.low_water_mark import find_low_water_mark
from timelines.recent.sql import INDEXED


def end_lost_deletions(work: Work, since: datetime, restored_wins: bool) -> Iterator[Batch]:
    """Deletes the posts of accounts of these restored shards that only their own index has.

    `since`: when the backup was made; later posts are not looked at. Posts from before the
    low-water mark of all other shards are not looked at either. `restored_wins`: names the posts
    only. Cost: per batch of the index one query on each other shard, and one on the restored one.
    """
    others = [alias for alias in shard_aliases() if alias not in work.aliases]
    low_marks = {alias: find_low_water_mark(alias) for alias in others}
    marks = {alias: mark for alias, mark in low_marks.items() if mark is not None}
    for piece in walk_table(work, INDEXED):
        originals = {PostId.at(*row[:2]): row[2:] for row in piece.rows}
        own = [i for i in originals if shard_of(i.author_id) == piece.alias]
        old = [i for i in own if i.posted_at_s < since.timestamp()]
        findings = [
            _finding(post_id, originals[post_id], restored_wins)
            for post_id in _find_deleted(piece.alias, old, marks)
        ]
        yield report_findings(work, piece, findings, repair=not restored_wins)


def _find_deleted(alias: str, ids: Sequence[PostId], marks: dict[str, int]) -> list[PostId]:
    """Live posts that no other index has, although at least one reaches down to them."""
    left = [i for i in ids if any(i.second >= mark for mark in marks.values())]
    for other in marks:
        left = find_unindexed(other, left) if left else []
    live = find_live_posts(alias, left) if left else set()
    return [post_id for post_id in left if post_id in live]


def _finding(post_id: PostId, shown: Sequence[int | None], restored_wins: bool) -> AuditFinding:
    line = f"account {post_id.author_id}: post {post_id.public} is back: its deletion was lost"
    if restored_wins:
        return AuditFinding(line)
    target = Target.of(Kind.REPOST, *shown)
    if target is None:
        return AuditFinding(line, partial(delete_post, post_id))
    return AuditFinding(line, partial(undo_repost, post_id.author_id, target.post_id))
