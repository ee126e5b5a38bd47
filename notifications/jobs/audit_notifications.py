"""Compares notifications with what happened, both ways, and adds those that are missing."""

from collections.abc import Iterator, Sequence
from functools import partial

from accounts.sql import ACCOUNTS
from infra import clock
from infra.changes.failpoints import failpoint
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding, compare_again
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece, walk_table
from notifications.actions.backfill import backfill_on_shard
from notifications.actions.dismiss import delete_notification
from notifications.actions.write_notifications import write_notifications
from notifications.queries.missing_notifications import find_missing, post_id_of, read_sources
from notifications.types import NotificationKind, Occurrence
from posts.actions.delete_post import delete_post
from posts.actions.end_lost_post import LostPost, end_lost_post

BATCH_SIZE = 100


def judge_owners(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Accounts that lack notifications of what happened. Cost: five queries."""
    now_ms = clock.now_ms()
    missing = find_missing(piece.alias, [account_id for (account_id,) in piece.rows], now_ms)
    for owner_id, occurrences in missing.items():
        before_ms = now_ms - run.unsettled_ms
        if settled := [occurrence for occurrence in occurrences if occurrence.at_ms < before_ms]:
            add = partial(backfill_on_shard, piece.alias, {owner_id: settled})
            yield AuditFinding(f"account {owner_id}: {len(settled)} missing", add)


def judge_held(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Notifications of what has ended or never was. `restored_wins`: a post whose deletion was lost
    stays. Cost: three queries, and one per shard of posts."""
    rows = [Occurrence(*row) for row in piece.rows]
    held = compare_again(rows, partial(_find_differing, piece.alias), run.pause)
    sources = read_sources(piece.alias, held) if held else {}
    for row in held:
        yield _finding(piece.alias, row, sources.get(row.identity), run.restored_wins)


def _find_differing(alias: str, rows: Sequence[Occurrence]) -> list[Occurrence]:
    """Those that are on without a source or with one that has ended, and those that ended although
    their post is live: its deletion was lost.
    """
    sources = read_sources(alias, rows)
    return [row for row in rows if _differs(row, sources.get(row.identity))]


def _differs(row: Occurrence, source: Occurrence | None) -> bool:
    if source is None:
        return row.is_on
    if row.is_on:
        return not source.is_on
    return source.is_on and source.revision < row.revision


def _finding(
    alias: str, row: Occurrence, source: Occurrence | None, restored_wins: bool
) -> AuditFinding:
    kind = NotificationKind(row.kind)
    line = f"account {row.from_id}: {kind.public} for {row.owner_id}"
    if row.is_on and source is None:
        return AuditFinding(f"{line} was lost", partial(_end_lost, row))
    if row.is_on and source is not None:
        ended = source._replace(revision=max(source.revision, row.revision + 1))
        end = partial(write_notifications, alias, [ended], clock.now_ms())
        return AuditFinding(f"{line} has ended", end)
    text = f"account {row.from_id}: post {post_id_of(row).public} is back: its deletion was lost"
    if restored_wins:
        return AuditFinding(text)
    return AuditFinding(text, partial(delete_post, post_id_of(row)))


def _end_lost(row: Occurrence) -> None:
    """A mention ends with its post, wherever that was seen; of the others the row is all there is.

    It is deleted, so that the same may happen again.
    """
    if row.kind == NotificationKind.MENTION:
        end_lost_post(LostPost(post_id_of(row), mentioned=(row.owner_id,)))
    else:
        delete_notification(*row.identity)


def backfill_notifications(work: Work, now_ms: int) -> Iterator[Batch]:
    """Adds what the accounts lack of their newest followers, requests and responses.

    Safety: idempotent, and correct while writes go on. Cost: five queries a batch of accounts, and
    a transaction if something is missing.
    """
    for alias, rows, position in walk_table(work, ACCOUNTS):
        missing = find_missing(alias, [account_id for (account_id,) in rows], now_ms)
        changed = sum(map(len, missing.values()))
        if not work.dry_run:
            changed = backfill_on_shard(alias, missing)
        failpoint("notifications.backfilled")
        yield Batch(len(rows), 0, alias, changed, position)
