"""The passes of audit responses over replies, reposts and favourites: is each recorded?"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding, Pause, compare_again
from infra.jobs.walk import Piece
from infra.sharding.buckets import shard_of
from posts.actions.repost import undo_repost
from posts.ids import PostId
from posts.jobs.audit_recorded import QUOTES, record_again, source_of, target_of, words_of
from posts.queries.responses import (
    find_live_posts,
    quote_of,
    read_mark_responses,
    read_post_responses,
    read_quote_responses,
    read_responses,
    record_of,
)
from posts.types import REACTIONS, Kind, ResponseRow, Target


def judge_responding_posts(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Live replies and reposts without a response, and reposts of posts that do not exist.

    Cost: two queries per shard of the posts that they are about; again while changes are pending.
    """
    return _judge(
        piece.alias,
        [record_of(PostId.at(*row[:2]), Target(*row[2:5]), True, row[5]) for row in piece.rows],
        run.pause,
    )


def judge_quoting_posts(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Live posts whose quote has no response, or one of another state. Cost: as the others."""
    rows = [
        record_of(PostId.at(*row[:2]), quote_of(PostId.at(*row[2:4])), not row[5], row[4])
        for row in piece.rows
    ]
    return _judge(piece.alias, rows, run.pause)


def judge_reactions(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Favourites and other reactions without a response. Cost: as the others."""
    rows = [
        ResponseRow(row[2], row[1], row[3], row[0], 0, row[4], row[5], row[6]) for row in piece.rows
    ]
    return _judge(piece.alias, rows, run.pause)


def _judge(alias: str, rows: Sequence[ResponseRow], pause: Pause) -> Iterator[AuditFinding]:
    for row in compare_again(rows, _find_unrecorded, pause):
        again = partial(_record_as_it_is, alias, row)
        yield AuditFinding(f"{_name(row)} is not recorded", again)
    reposts = [row for row in rows if row.kind == Kind.REPOST]
    for find, why in WHY.items():
        for row in compare_again(reposts, find, pause):
            undo = partial(undo_repost, row.responder_id, row.post_id)
            yield AuditFinding(f"{_name(row)} {why}", undo)


def _name(row: ResponseRow) -> str:
    return f"account {row.responder_id}: {words_of(row.kind)} {row.post_id.public}"


def _find_unrecorded(rows: Sequence[ResponseRow]) -> list[ResponseRow]:
    """Those without a response, or with an older one."""
    return [row for row, revision in _recorded_revisions(rows) if revision < row.revision]


def _find_orphans(reposts: Sequence[ResponseRow]) -> list[ResponseRow]:
    """Those whose original is deleted or has no row. One query per shard of originals."""
    unrecorded = []
    for alias, group in _by_shard(reposts):
        live = find_live_posts(alias, [row.post_id for row in group])
        unrecorded += [row for row in group if row.post_id not in live]
    return unrecorded


def _find_undone(reposts: Sequence[ResponseRow]) -> list[ResponseRow]:
    """Those that are live, although their account undid them and reposted later.

    The reposts are read last: a later repost begins when the one before has ended.
    """
    older = [row for row, revision in _recorded_revisions(reposts) if revision > row.revision + 1]
    if not older:
        return []
    live = find_live_posts(shard_of(older[0].responder_id), [source_of(row) for row in older])
    return [row for row in older if source_of(row) in live]


WHY = {
    _find_orphans: "shows a post that does not exist",
    _find_undone: "is back: its end was lost",
}


def _recorded_revisions(rows: Sequence[ResponseRow]) -> Iterator[tuple[ResponseRow, int]]:
    """Each with the revision of its response, 0 without one. One query per shard of posts."""
    for alias, group in _by_shard(rows):
        known = read_responses(alias, [row.identity for row in group])
        for row in group:
            yield row, known[row.identity].revision if row.identity in known else 0


def _by_shard(rows: Sequence[ResponseRow]) -> Iterator[tuple[str, list[ResponseRow]]]:
    def where(row: ResponseRow) -> str:
        return shard_of(row.author_id)

    for alias, group in groupby(sorted(rows, key=where), where):
        yield alias, list(group)


def _record_as_it_is(alias: str, row: ResponseRow) -> None:
    """Records the response as its source is now: it may have been undone in the meantime."""
    if row.kind in REACTIONS:
        key = (row.responder_id, row.moment, row.author_id, row.kind)
        record_again(read_mark_responses(alias, [key]))
    elif row.kind in QUOTES:
        record_again(read_quote_responses(alias, [(source_of(row), row.post_id)]))
    else:
        record_again(read_post_responses(alias, [(source_of(row), target_of(row))]))
