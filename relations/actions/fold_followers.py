"""Adds postponed moves of followers counts up, one write of each count."""

from collections.abc import Collection

from django.db import transaction

from counters.actions.move import move
from counters.actions.postpone import take_postponed
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from counters.sql import create_and_lock_counts
from counters.types import ACCOUNT
from infra.sharding.sql import Statement, execute, fetch_pipelined
from relations.actions.follower_moves import moves_of
from relations.actions.mirror import HIDE_BACKWARD, MirroredFollowee, build_mirrored
from relations.queries.edges import Pair, load_backward_edges, load_forward_edges
from relations.states import as_seen_by_followee
from relations.types import NO_EDGE, Edge

KINDS = [CounterKind.FOLLOWERS]


def fold_on_shard(alias: str, followee_ids: Collection[int]) -> dict[int, MirroredFollowee]:
    """Adds the postponed moves of these followees to their counts.

    Returns the argument for `refresh_followers`: all followees, with the edges that moved them.
    Safety: one transaction, idempotent. It locks the counts before it reads the edges. So of a
    follow and a block that were written at the same time it sees both, and hides the follow.
    Cost: six statements.
    """
    owners = sorted(followee_ids)
    with transaction.atomic(using=alias):
        taken = take_postponed(alias, [(owner, ACCOUNT) for owner in owners])
        statements = create_and_lock_counts(CounterKind.FOLLOWERS)
        fetch_pipelined(alias, [Statement(sql, (owners,)) for sql in statements])
        pairs = {(about, one.owner_id) for one, about in taken}
        moves = [one for one, _ in taken]
        edges = load_backward_edges(alias, pairs)
        for pair, hidden in _find_hidden(alias, edges).items():
            execute(alias, HIDE_BACKWARD, (pair[1], pair[0]))
            moves += moves_of(pair[1], edges[pair], hidden)
            edges[pair] = hidden
        move(alias, moves)
        counts = read_counts(alias, owners, KINDS)
    versions = {i: counts[i][CounterKind.FOLLOWERS].version for i in owners}
    return build_mirrored(versions, edges)


def _find_hidden(alias: str, edges: dict[Pair, Edge]) -> dict[Pair, Edge]:
    """Follows of followees that block the follower, as the followees see them."""
    opposites = load_forward_edges(alias, [pair[::-1] for pair in edges])
    seen = {
        pair: as_seen_by_followee(edge, opposites.get(pair[::-1], NO_EDGE))
        for pair, edge in edges.items()
    }
    return {pair: edge for pair, edge in seen.items() if edge != edges[pair]}
