"""Adds postponed moves of followers counts up, one write of each count."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from django.db import transaction

from counters.actions.move_counts import move_counts
from counters.actions.postpone import (
    CausedMove,
    PostponedMoves,
    caused_moves,
    list_postponed,
    take_postponed,
)
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from counters.sql import create_and_lock_counts
from counters.types import ACCOUNT
from infra.sharding.sql import Statement, execute, fetch_pipelined
from relations.actions.mirror import MirroredFollowee, build_mirrored
from relations.counter_rows import BACKWARD_KINDS, iter_moves
from relations.queries.edges import LOAD_FORWARD, LOCK_BACKWARD, Pair, edges_of, pair_columns
from relations.sql import BACKWARD_TABLE, KIND
from relations.states import as_seen_by_followee
from relations.types import NO_EDGE, Edge

KINDS = [CounterKind.FOLLOWERS]
HIDE_BACKWARD = f"""
UPDATE {BACKWARD_TABLE} SET attribute = 0, flags = 0
WHERE followee_id = %s AND kind = {KIND} AND follower_id = %s
"""  # noqa: S608
CREATE_COUNTS, LOCK_COUNTS = create_and_lock_counts(CounterKind.FOLLOWERS)


class Taken(NamedTuple):
    """Postponed moves that were removed, and both edges of the pairs that caused them."""

    moves: list[CausedMove]
    backward: dict[Pair, Edge]
    opposites: dict[Pair, Edge]


def fold_follower_moves(alias: str, followee_ids: Collection[int]) -> dict[int, MirroredFollowee]:
    """Adds the postponed moves of these followees to their counts.

    Returns the argument for `refresh_followers`: all followees, with the edges that moved them.
    Safety: one transaction, idempotent. It locks counts, edges and moves in the order in which
    mirroring and blocks do. It locks the counts before it reads the edges. So of a follow and a
    block that were written at the same time it sees both, and hides the follow.
    Cost: four round trips, and one for each follow that it hides.
    """
    owners = sorted(followee_ids)
    with transaction.atomic(using=alias):
        taken = _take(alias, _lock_counts(alias, owners))
        moves, edges = [move for move, _ in taken.moves], taken.backward
        for pair, hidden in _find_hidden(edges, taken.opposites).items():
            execute(alias, HIDE_BACKWARD, (pair[1], pair[0]))
            moves += iter_moves(BACKWARD_KINDS, CounterKind.FOLLOWERS, pair[1], edges[pair], hidden)
            edges[pair] = hidden
        move_counts(alias, moves)
        counts = read_counts(alias, owners, KINDS)
    versions = {i: counts[i][CounterKind.FOLLOWERS].version for i in owners}
    return build_mirrored(versions, edges)


def _lock_counts(alias: str, owners: Sequence[int]) -> list[PostponedMoves]:
    """Locks the followers counts; returns what is postponed of them now."""
    locks = [Statement(sql, (owners,)) for sql in (CREATE_COUNTS, LOCK_COUNTS)]
    subjects = [(owner, ACCOUNT) for owner in owners]
    *_, rows = fetch_pipelined(alias, [*locks, list_postponed(subjects)])
    return [PostponedMoves(*row) for row in rows]


def _take(alias: str, postponed: Sequence[PostponedMoves]) -> Taken:
    """Removes moves, and locks the backward edges that they are of."""
    pairs = [(move.about, move.owner_id) for move in postponed if move.about is not None]
    backward, opposites, moves = fetch_pipelined(
        alias,
        [
            Statement(LOCK_BACKWARD, pair_columns(pairs)),
            Statement(LOAD_FORWARD, pair_columns(pair[::-1] for pair in pairs)),
            take_postponed(postponed),
        ],
    )
    return Taken(caused_moves(moves), edges_of(backward), edges_of(opposites))


def _find_hidden(edges: Mapping[Pair, Edge], opposites: Mapping[Pair, Edge]) -> dict[Pair, Edge]:
    """Follows of followees that block the follower, as the followees see them."""
    seen = {
        pair: as_seen_by_followee(edge, opposites.get(pair[::-1], NO_EDGE))
        for pair, edge in edges.items()
    }
    return {pair: edge for pair, edge in seen.items() if edge != edges[pair]}
