"""Compares the recent-posts indexes with the posts, both ways, and fills them.

They are filled for an upgrade that brings the index, for a new shard, for an index that lacks what
the drain could not deliver, and for another RECENT_INDEX. The drain indexes what is posted during
the run, so all drain processes have to know the shard, and have the setting, first.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import partial

from django.conf import settings

from accounts.sql import ACCOUNTS
from infra.changes.failpoints import failpoint
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding, Pause, compare_again, report_findings
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece, walk_table
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.actions.end_lost_post import LostPost, end_lost_post
from posts.ids import SEQUENCES, PostId
from posts.queries.responses import read_states
from posts.sql import LIVE_EVENTS
from posts.types import Kind, Target
from timelines.recent.actions.index_posts import backfill_recent, count_missing, find_unindexed
from timelines.recent.days import PARTITIONS, first_moment, first_second, kept_days, oldest_read
from timelines.recent.low_water_mark import (
    begin_own_only,
    delete_low_water_mark,
    distrust_own_rows,
    end_own_only,
    find_low_water_mark,
    find_own_mark,
    has_own_only,
    lower_low_water_mark,
    lower_own_mark,
)
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


def today_utc() -> date:
    return datetime.now(UTC).date()


def backfill_recent_posts(
    work: Work, again: bool = False, today: Callable[[], date] = today_utc
) -> Iterator[Batch]:
    """Adds the newest days' posts, a batch at a time, to the indexes that RECENT_INDEX reads.

    That is each shard named: with `replicated` it gets the posts of all accounts, with `by_author`
    those of its own. Skips shards whose index is complete. With `again` it fills them too, and no
    process reads their index until the end. Safety: idempotent, also during writes. The mark is set
    at the very end, and not by a run with a limit. Raises: the errors in UNREACHABLE; resume then.
    Cost: per batch one query, and one statement per shard filled.
    """
    job = _fill_own if settings.RECENT_INDEX == "by_author" else _fill_all
    yield from job(work, again, today)


def _fill_all(work: Work, again: bool, today: Callable[[], date]) -> Iterator[Batch]:
    """Each index gets the posts of all accounts. Workers of `by_author` have to have ended."""
    targets = [alias for alias in work.aliases if again or find_low_water_mark(alias) is None]
    if not targets:
        return
    if not work.dry_run:
        end_own_only()
        for alias in targets:
            delete_low_water_mark(alias)
            PARTITIONS.make(alias, kept_days(today()))
    lowest = first_moment(oldest_read(today()))
    everywhere = work._replace(aliases=shard_aliases())
    for source, rows, position in walk_table(everywhere, ACCOUNTS):
        entries = _read_entries(source, [account_id for (account_id,) in rows], lowest)
        missing = _fill(targets, entries, work.dry_run)
        yield Batch(len(rows), 0, source, missing, position)
    if work.limit is None and not work.dry_run:
        for alias in targets:
            lower_low_water_mark(alias, first_second(oldest_read(today())))


def _fill_own(work: Work, again: bool, today: Callable[[], date]) -> Iterator[Batch]:
    """Each index gets the posts of the shard's own accounts."""
    marks = {alias: find_own_mark(alias) for alias in work.aliases}
    oldest = first_second(oldest_read(today()))
    targets = [i for i, mark in marks.items() if again or mark is None or mark > oldest]
    if not targets:
        return
    if not work.dry_run:
        if not all(map(has_own_only, shard_aliases())):
            begin_own_only()
        for alias in targets:
            distrust_own_rows(alias)
            PARTITIONS.make(alias, kept_days(today()))
    for alias, rows, position in walk_table(work._replace(aliases=targets), ACCOUNTS):
        lowest = first_moment(oldest_read(today()))
        entries = _read_entries(alias, [account_id for (account_id,) in rows], lowest)
        missing = _fill([alias], entries, work.dry_run)
        yield Batch(len(rows), 0, alias, missing, position)
    if work.limit is None and not work.dry_run:
        for alias in targets:
            lower_own_mark(alias, first_second(oldest_read(today())))


def _read_entries(alias: str, author_ids: Sequence[int], lowest: int) -> list[Entry]:
    rows = fetch_all(alias, POSTS, (author_ids, lowest))
    return [Entry(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]


def _fill(targets: Sequence[str], entries: Sequence[Entry], dry_run: bool) -> int:
    """The number of missing rows, all shards together."""
    index = count_missing if dry_run else backfill_recent
    missing = scatter({alias: partial(index, alias, entries) for alias in targets})
    if not dry_run and any(missing.values()):
        drop_packs({entry.event.author_id for entry in entries})
    failpoint("recent_posts.backfilled")
    return sum(missing.values())
