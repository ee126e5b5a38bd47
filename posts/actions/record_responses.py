"""Writes responses and their counts to the shard of the posts."""

from collections.abc import Collection, Iterable, Sequence

from django.db import OperationalError, transaction
from psycopg.errors import SerializationFailure

from counters.actions.move_counts import move_counts
from counters.actions.postpone import PostponedMoves, caused_moves, take_postponed
from counters.kinds import CounterKind
from counters.queries.counts import Subject, read_subject_counts
from counters.types import Count
from infra.changes.append import change_columns
from infra.changes.wake_up import wake
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from infra.telemetry.reached_branches import reached
from posts.cache.counts import ALL_KINDS
from posts.changes import ResponsesPostponed
from posts.ids import PostId
from posts.types import REACTIONS, Kind, ResponseRow

COUNTED = {
    Kind.REPLY: CounterKind.REPLIES,
    Kind.REPOST: CounterKind.REPOSTS,
    Kind.QUOTE: CounterKind.QUOTES,
    **REACTIONS,
}
# posts/functions.sql: locks, rows, counts and changes in one round trip.
RECORD = """
SELECT late_owners FROM posts_record_responses(
    %(author_ids)s, %(moments)s, %(kinds)s::smallint[], %(responder_ids)s, %(reply_moments)s,
    %(times)s, %(revisions)s, %(are_on)s, %(counted)s::smallint[], %(hot_owners)s,
    %(hot_subjects)s, %(fold_kind)s, %(fold_lanes)s, %(fold_payloads)s::jsonb[]
)
"""
_COLUMNS = (
    "author_ids", "moments", "kinds", "responder_ids", "reply_moments", "times", "revisions",
    "are_on",
)  # fmt: skip


def by_shard(responses: Iterable[ResponseRow]) -> dict[str, list[ResponseRow]]:
    """The responses, by the shard of the post's author."""
    groups: dict[str, list[ResponseRow]] = {}
    for response in responses:
        groups.setdefault(shard_of(response.author_id), []).append(response)
    return groups


def write_responses(
    alias: str,
    responses: Sequence[ResponseRow],
    hot: Collection[Subject] = frozenset(),
) -> dict[Subject, list[Count]]:
    """Writes the responses that are newer than their rows on the authors' shard.

    Of several states of one response the newest holds.

    Returns the counts of the posts, in the order of ALL_KINDS. `hot`: posts whose counts are
    written very often; their moves are postponed.
    Raises: OperationalError, also if another transaction records one of them at the same time,
    twice. Safety: idempotent, and the order of deliveries does not matter. One transaction; it
    knows the old row of each response, so each is counted once. The counts are read after the
    commit: two transactions that move different counts of a post at the same time would each see
    their own move only, and give both entries of the cache one version.
    Cost: two statements for any number of responses.
    """
    if not responses:
        return {}
    params = _params(responses, hot)
    try:
        row = fetch_one(alias, RECORD, params)
    except OperationalError as error:
        if not isinstance(error.__cause__, SerializationFailure):
            raise
        reached("posts.recorded_together")
        # The other transaction has ended, so its rows are seen now.
        row = fetch_one(alias, RECORD, params)
    (late_owners,) = row  # type: ignore[misc]  # a function has one row
    if late_owners:
        reached("posts.moves_postponed")
        wake(alias, *{change_columns(i, ResponsesPostponed(0)).lane for i in late_owners})
    subjects = list({response[:2] for response in responses})
    return read_subject_counts(alias, subjects, ALL_KINDS)


def _params(responses: Sequence[ResponseRow], hot: Collection[Subject]) -> dict[str, object]:
    columns = [list(column) for column in zip(*responses, strict=True)]
    folds = [change_columns(r.author_id, ResponsesPostponed(r.moment)) for r in responses]
    return {
        **dict(zip(_COLUMNS, columns, strict=True)),
        "counted": [int(COUNTED.get(Kind(response.kind), 0)) for response in responses],
        "hot_owners": [owner for owner, _ in hot],
        "hot_subjects": [subject for _, subject in hot],
        "fold_kind": ResponsesPostponed.kind,
        "fold_lanes": [fold.lane for fold in folds],
        "fold_payloads": [fold.body for fold in folds],
    }


def fold_response_moves(alias: str, posts: Collection[PostId]) -> None:
    """Adds the postponed moves of these posts to their counts. Two statements."""
    with transaction.atomic(using=alias):
        wanted = [PostponedMoves(i.author_id, i.moment) for i in posts]
        taken = caused_moves(fetch_all(alias, *take_postponed(wanted)))
        move_counts(alias, [taken_move for taken_move, _ in taken])
