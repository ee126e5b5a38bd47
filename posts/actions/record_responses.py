"""Writes responses and their counts to the shard of the posts."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db import OperationalError, transaction

from counters.actions.move_counts import move_counts, plan_count_moves
from counters.actions.postpone import (
    CausedMove,
    PostponedMoves,
    caused_moves,
    find_postponed,
    postpone,
    take_postponed,
)
from counters.kinds import CounterKind
from counters.queries.counts import Subject
from counters.types import CountMove
from infra.changes.append import append_change
from infra.sharding.attempts import timeouts
from infra.sharding.buckets import shard_of
from infra.sharding.sql import Statement, fetch_all, fetch_pipelined
from infra.telemetry.reached_branches import reached
from posts.changes import ResponsesPostponed
from posts.ids import PostId
from posts.queries.responses import IDENTITY
from posts.types import Kind, ResponseRow

COUNTED = {
    Kind.REPLY: CounterKind.REPLIES,
    Kind.REPOST: CounterKind.REPOSTS,
    Kind.FAVOURITE: CounterKind.FAVOURITES,
}
LOCK = f"""
SELECT {IDENTITY}, at, revision, is_on
FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[])
    AS wanted ({IDENTITY})
JOIN posts_response AS r USING ({IDENTITY})
ORDER BY {IDENTITY} FOR NO KEY UPDATE OF r
"""  # noqa: S608
WRITE = f"""
INSERT INTO posts_response AS old ({IDENTITY}, at, revision, is_on)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[],
    %s::bigint[], %s::bigint[], %s::boolean[])
ON CONFLICT ({IDENTITY}) DO UPDATE SET
    at = excluded.at, revision = excluded.revision, is_on = excluded.is_on
WHERE old.revision < excluded.revision
RETURNING {IDENTITY}, xmax = 0 AS is_new
"""  # noqa: S608
Identity = tuple[int, int, int, int, int]


def by_shard(responses: Iterable[ResponseRow]) -> dict[str, dict[Identity, ResponseRow]]:
    """The newest response of each identity, by the shard of the post's author."""
    groups: dict[str, dict[Identity, ResponseRow]] = {}
    for response in responses:
        group = groups.setdefault(shard_of(response.author_id), {})
        other = group.get(response.identity)
        if other is None or other.revision < response.revision:
            group[response.identity] = response
    return groups


class ResponseJustRecorded(OperationalError):
    """Another transaction recorded one of the responses at the same time. Record them again."""


def write_responses(
    alias: str,
    responses: Mapping[Identity, ResponseRow],
    gives_way: bool = False,
    hot: Collection[Subject] = frozenset(),
) -> None:
    """Writes the responses that are newer than their rows on the authors' shard.

    `gives_way`: the caller would rather have an error of UNREACHABLE than wait for a locked row.
    `hot`: posts whose counts are written very often; their moves are postponed.
    Raises: ResponseJustRecorded, if that happens twice. Safety: idempotent, and the order of
    deliveries does not matter. One transaction; it knows the old row of each response, so each is
    counted once. Cost: two round trips for any number of responses; twice that if the request and
    the drain record one at the same time.
    """
    try:
        _record(alias, responses, gives_way, hot)
    except ResponseJustRecorded:
        reached("posts.recorded_together")
        # The other transaction has ended, so its rows are seen now.
        _record(alias, responses, gives_way, hot)


def _record(
    alias: str,
    responses: Mapping[Identity, ResponseRow],
    gives_way: bool,
    hot: Collection[Subject],
) -> None:
    with transaction.atomic(using=alias):
        first = [timeouts()] if gives_way else []
        columns = [list(column) for column in zip(*responses, strict=True)]
        subjects = {(author_id, moment) for author_id, moment, *_ in responses}
        statements = [*first, Statement(LOCK, columns), find_postponed(subjects)]
        *_, rows, postponed = fetch_pipelined(alias, statements)
        old = {response.identity: response for response in (ResponseRow(*row) for row in rows)}
        newer = [r for i, r in responses.items() if i not in old or old[i].revision < r.revision]
        if newer:
            _write(alias, old, newer, {*hot, *postponed})


def fold_response_moves(alias: str, posts: Collection[PostId]) -> None:
    """Adds the postponed moves of these posts to their counts. Two statements."""
    with transaction.atomic(using=alias):
        wanted = [PostponedMoves(i.author_id, i.moment) for i in posts]
        taken = caused_moves(fetch_all(alias, *take_postponed(wanted)))
        move_counts(alias, [taken_move for taken_move, _ in taken])


def _write(
    alias: str,
    old: Mapping[Identity, ResponseRow],
    newer: Sequence[ResponseRow],
    postponed: Collection[Subject],
) -> None:
    """Raises: ResponseJustRecorded. One round trip, and one for each postponed post."""
    columns = [list(column) for column in zip(*sorted(newer), strict=True)]
    moves = list(_moves(old, newer))
    now = plan_count_moves(alias, [m for m, _ in moves if (m.owner_id, m.subject) not in postponed])
    later = [caused for caused in moves if (caused.move.owner_id, caused.move.subject) in postponed]
    statements = [Statement(WRITE, columns), *([postpone(later)] if later else []), now.statement]
    written, *_, moved = fetch_pipelined(alias, statements)
    if {row[:-1]: row[-1] for row in written} != {r.identity: r.identity not in old for r in newer}:
        raise ResponseJustRecorded
    now.complete(moved)
    for author_id, moment in dict.fromkeys((m.owner_id, m.subject) for m, _ in later):
        reached("posts.moves_postponed")
        append_change(alias, author_id, ResponsesPostponed(moment))


def _moves(
    old: Mapping[Identity, ResponseRow], newer: Iterable[ResponseRow]
) -> Iterable[CausedMove]:
    for response in newer:
        before = old.get(response.identity)
        delta = response.is_on - (before is not None and before.is_on)
        if delta:
            kind = COUNTED.get(Kind(response.kind))
            if kind is not None:
                moved = CountMove(response.author_id, kind, delta, response.moment)
                yield CausedMove(moved, response.responder_id)
