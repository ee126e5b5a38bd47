"""Compares notifications with what happened, both ways."""

from collections.abc import Iterator, Sequence
from functools import partial

from accounts.sql import ACCOUNTS
from infra.jobs.findings import AuditFinding, Pause, compare_again, report_findings
from infra.jobs.several_passes import in_turn
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from notifications.actions.backfill import backfill_on_shard
from notifications.actions.delete_owner_rows import delete_notification
from notifications.actions.write_notifications import write_notifications
from notifications.queries.missing_notifications import find_missing
from notifications.queries.owner_sources import post_id_of, read_sources
from notifications.sql import HELD_NOTIFICATIONS
from notifications.types import NotificationKind, Occurrence
from posts.actions.delete_post import delete_post
from posts.actions.end_lost_post import LostPost, end_lost_post


def audit_notifications(
    work: Work,
    repair: bool,
    pause: Pause,
    before_ms: int,
    now_ms: int,
    restored_wins: bool = False,
) -> Iterator[Batch]:
    """Accounts that lack notifications of what happened before `before_ms`, and notifications of
    what has ended or never was.

    Later events may still be under way. What is not repaired is a failed row. `restored_wins`: a
    post whose deletion was lost stays. `pause(seconds)` waits for pending changes. Cost: five
    queries a batch of accounts; three a batch of notifications and one per shard of posts.
    """
    missing = partial(_audit_missing, repair=repair, before_ms=before_ms, now_ms=now_ms)
    held = partial(
        _audit_held, repair=repair, pause=pause, now_ms=now_ms, restored_wins=restored_wins
    )
    return in_turn(work, held, missing)


def _audit_missing(work: Work, repair: bool, before_ms: int, now_ms: int) -> Iterator[Batch]:
    for piece in walk_table(work, ACCOUNTS):
        missing = find_missing(piece.alias, [account_id for (account_id,) in piece.rows], now_ms)
        settled = {
            owner_id: [occurrence for occurrence in occurrences if occurrence.at_ms < before_ms]
            for owner_id, occurrences in missing.items()
        }
        findings = [
            AuditFinding(
                f"account {owner_id}: {len(some)} missing",
                partial(backfill_on_shard, piece.alias, {owner_id: some}),
            )
            for owner_id, some in settled.items()
            if some
        ]
        yield report_findings(work, piece, findings, repair)


def _audit_held(
    work: Work, repair: bool, pause: Pause, now_ms: int, restored_wins: bool
) -> Iterator[Batch]:
    for piece in walk_table(work, HELD_NOTIFICATIONS):
        rows = [Occurrence(*row) for row in piece.rows]
        differing = partial(_find_differing, piece.alias)
        held = compare_again(rows, differing, pause)
        sources = read_sources(piece.alias, held) if held else {}
        findings = [
            _finding(piece.alias, row, sources.get(row.identity), now_ms, restored_wins)
            for row in held
        ]
        yield report_findings(work, piece, findings, repair)


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
    alias: str, row: Occurrence, source: Occurrence | None, now_ms: int, restored_wins: bool
) -> AuditFinding:
    kind = NotificationKind(row.kind)
    line = f"account {row.from_id}: {kind.public} for {row.owner_id}"
    if row.is_on and source is None:
        return AuditFinding(f"{line} was lost", partial(_end_lost, row))
    if row.is_on and source is not None:
        ended = source._replace(revision=max(source.revision, row.revision + 1))
        end = partial(write_notifications, alias, [ended], now_ms)
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
