"""Compares the recent-posts indexes of the shards with the posts, both ways."""

from collections.abc import Iterator, Sequence
from functools import partial

from django.conf import settings

from accounts.sql import ACCOUNTS
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding, Pause, compare_again, report_findings
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece, walk_table
from infra.sharding.buckets import shard_of
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.actions.end_lost_post import LostPost, end_lost_post
from posts.ids import SEQUENCES, PostId
from posts.queries.responses import read_states
from posts.sql import LIVE_EVENTS
from posts.types import Kind, Target
from timelines.recent.actions.index_posts import backfill_recent, find_unindexed
from timelines.recent.low_water_mark import find_low_water_mark, find_own_mark
from timelines.recent.packs import drop_packs
from timelines.types import Entry

POSTS = f"{LIVE_EVENTS} AND author_id = ANY(%s::bigint[]) AND moment >= %s"


def judge_indexed_posts(piece: Piece, _: AuditRun) -> Iterator[AuditFinding]:
    """Rows of an index without a post. Cost: one query per shard of authors.

    A row of a deleted post is no difference: readers skip it until its day is dropped.
    """
    targets = {PostId.at(*row[:2]): row[2:] for row in piece.rows}
    groups: dict[str, list[PostId]] = {}
    for post_id in targets:
        groups.setdefault(shard_of(post_id.author_id), []).append(post_id)
    known = {state for alias, ids in groups.items() for state in read_states(alias, ids)}
    return (_lost(post_id, *shown) for post_id, shown in targets.items() if post_id not in known)


def _lost(post_id: PostId, shown_author: int | None, shown_moment: int | None) -> AuditFinding:
    target = Target.of(Kind.REPOST, shown_author, shown_moment)
    line = f"account {post_id.author_id}: {'repost' if target else 'post'} {post_id.public}"
    return AuditFinding(f"{line} was lost", partial(end_lost_post, LostPost(post_id, target)))


def audit_indexes(run: AuditRun, work: Work) -> Iterator[Batch]:
    """Posts that the index of these shards lacks, above its low-water mark: those of all accounts,
    with RECENT_INDEX=by_author those of the shard's own ones.

    Cost: one query a batch, and one for each index.
    """
    is_by_author = settings.RECENT_INDEX == "by_author"
    find_mark = find_own_mark if is_by_author else find_low_water_mark
    marks = {alias: find_mark(alias) for alias in work.aliases}
    complete = {alias: mark for alias, mark in marks.items() if mark is not None}
    if not complete:
        return
    lowest = min(complete.values()) * SEQUENCES
    sources = list(complete) if is_by_author else shard_aliases()
    for piece in walk_table(work._replace(aliases=sources), ACCOUNTS):
        rows = fetch_all(piece.alias, POSTS, ([row[0] for row in piece.rows], lowest))
        entries = [Entry(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]
        findings = [
            finding
            for alias, mark in complete.items()
            if alias == piece.alias or not is_by_author
            for finding in _find_lacking(alias, mark, entries, run.pause)
        ]
        yield report_findings(work, piece, findings, run.repair)


def _find_lacking(
    alias: str, mark: int, entries: Sequence[Entry], pause: Pause
) -> Iterator[AuditFinding]:
    recent = [entry for entry in entries if entry.event.second >= mark]
    for entry in compare_again(recent, partial(_find_not_indexed, alias), pause):
        line = f"account {entry.event.author_id}: post {entry.event.public} is not in the index of"
        yield AuditFinding(f"{line} {alias}", partial(_add, alias, entry))


def _add(alias: str, entry: Entry) -> None:
    backfill_recent(alias, [entry])
    drop_packs([entry.event.author_id])


def _find_not_indexed(alias: str, entries: Sequence[Entry]) -> list[Entry]:
    """Live posts only: one that was deleted in the meantime is not missing."""
    lacking = find_unindexed(alias, [entry.event for entry in entries])
    groups: dict[str, list[PostId]] = {}
    for event in lacking:
        groups.setdefault(shard_of(event.author_id), []).append(event)
    states = {
        post_id: state
        for at, ids in groups.items()
        for post_id, state in read_states(at, ids).items()
    }
    return [entry for entry in entries if entry.event in states and states[entry.event][0]]
