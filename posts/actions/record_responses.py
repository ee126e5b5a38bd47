"""Writes responses and their counts to the shard of the posts."""

from collections.abc import Iterable, Mapping, Sequence

from django.db import OperationalError, transaction

from counters.actions.move import plan_move
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.sharding.attempts import timeouts
from infra.sharding.buckets import shard_of
from infra.sharding.sql import Statement, fetch_pipelined
from posts.types import Kind, ResponseRow

COUNTED = {
    Kind.REPLY: CounterKind.REPLIES,
    Kind.REPOST: CounterKind.REPOSTS,
    Kind.FAVOURITE: CounterKind.FAVOURITES,
}
IDENTITY = "author_id, moment, kind, responder_id, reply_moment"
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


class ResponseChangedMeanwhile(OperationalError):
    """Another transaction recorded one of the responses at the same time. Record them again."""


def record_on_shard(
    alias: str, responses: Mapping[Identity, ResponseRow], gives_way: bool = False
) -> None:
    """Writes the responses that are newer than their rows on the authors' shard.

    `gives_way`: the caller would rather have an error of UNREACHABLE than wait for a locked row.
    Raises: ResponseChangedMeanwhile. Safety: idempotent, and the order of deliveries does not
    matter. One transaction; it knows the old row of each response, so each is counted once. Cost:
    two round trips for any number of responses.
    """
    with transaction.atomic(using=alias):
        first = [timeouts()] if gives_way else []
        columns = [list(column) for column in zip(*responses, strict=True)]
        rows = fetch_pipelined(alias, [*first, Statement(LOCK, columns)])[-1]
        old = {response.identity: response for response in (ResponseRow(*row) for row in rows)}
        newer = [r for i, r in responses.items() if i not in old or old[i].revision < r.revision]
        if newer:
            _write(alias, old, newer)


def _write(alias: str, old: Mapping[Identity, ResponseRow], newer: Sequence[ResponseRow]) -> None:
    """Raises: ResponseChangedMeanwhile. One round trip."""
    columns = [list(column) for column in zip(*sorted(newer), strict=True)]
    moves = plan_move(alias, _moves(old, newer))
    statements = [Statement(WRITE, columns), moves.statement]
    written, moved = fetch_pipelined(alias, statements)
    if {row[:-1]: row[-1] for row in written} != {r.identity: r.identity not in old for r in newer}:
        raise ResponseChangedMeanwhile
    moves.complete(moved)


def _moves(
    old: Mapping[Identity, ResponseRow], newer: Iterable[ResponseRow]
) -> Iterable[CountMove]:
    for response in newer:
        before = old.get(response.identity)
        delta = response.is_on - (before is not None and before.is_on)
        if delta:
            yield CountMove(
                response.author_id, COUNTED[Kind(response.kind)], delta, response.moment
            )
