"""Which buckets should move so that all shards have about the same to do. No query."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from infra.sharding.bucket_set import BucketSet, describe_buckets, take_share
from operations.moves.loads import ShardLoad, weigh

# Of the mean. A smaller difference is not worth a move, which reads every table twice.
TOLERANCE = 0.1
# A move takes so many parts of what a shard has, so that its row filter stays short.
LEAST_PARTS = 32


class PlannedMove(NamedTuple):
    """`part`: of the site's work, that goes with the buckets."""

    source: str
    target: str
    buckets: BucketSet
    part: float


def plan_moves(loads: Sequence[ShardLoad]) -> list[PlannedMove]:
    """The moves, in order. Each takes from the shard with the most what is above the mean, and
    gives to the shard with the least, up to the mean: so each brings both nearer to it."""
    weights = weigh(loads)
    owned = {load.alias: list(load.buckets) for load in loads}
    mean, moves = 1 / len(loads), list[PlannedMove]()
    while move := _find_move(weights, owned, mean):
        moves.append(move)
        taken = {*move.buckets.buckets()}
        owned[move.source] = [bucket for bucket in owned[move.source] if bucket not in taken]
        owned[move.target] = sorted([*owned[move.target], *taken])
        weights[move.source] -= move.part
        weights[move.target] += move.part
    return moves


def _find_move(
    weights: dict[str, float], owned: dict[str, list[int]], mean: float
) -> PlannedMove | None:
    source = max(weights, key=lambda alias: (weights[alias] if owned[alias] else 0.0, alias))
    target = min(weights, key=lambda alias: (weights[alias], alias))
    above, below = weights[source] - mean, mean - weights[target]
    if max(above, below) <= TOLERANCE * mean or not owned[source]:
        return None
    parts = _count_parts(owned[source])
    wanted = round(min(above, below) / weights[source] * parts)
    if not wanted:
        return None
    buckets = take_share(owned[source], Fraction(wanted, parts))
    part = weights[source] * buckets.size / len(owned[source])
    return PlannedMove(source, target, buckets, part)


def _count_parts(owned: Sequence[int]) -> int:
    """Into how many equal parts the buckets are divided."""
    parts = len(describe_buckets(owned).values)
    while parts < LEAST_PARTS and parts * 2 <= len(owned):
        parts *= 2
    return parts
