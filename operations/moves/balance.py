"""Which buckets should move so that all shards have about the same to do. No query.

What each shard has and does: its rows, and the writes of a few seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import BucketSet, bucket_map, describe_buckets, take_share
from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_one
from operations.moves.tables import list_moved_tables

# The statistics know of rows that came since the last ANALYZE, and know nothing after a crash.
COUNTS = """
SELECT coalesce(sum(CASE WHEN stats.n_tup_ins + stats.n_live_tup = 0
        THEN greatest(leaf.reltuples, 0) ELSE stats.n_live_tup END), 0)::bigint,
    coalesce(sum(stats.n_tup_ins + stats.n_tup_upd + stats.n_tup_del), 0)::bigint
FROM unnest(%s::regclass[]) AS top CROSS JOIN LATERAL (
    SELECT top AS relid UNION SELECT relid FROM pg_partition_tree(top)
) AS tree JOIN pg_class AS leaf ON leaf.oid = tree.relid
JOIN pg_stat_user_tables AS stats ON stats.relid = tree.relid
WHERE leaf.relkind = 'r'
"""


class ShardLoad(NamedTuple):
    """`buckets`: its own. `rows`: of accounts and tags. `writes_per_s`: of such rows."""

    alias: str
    buckets: Sequence[int]
    rows: int
    writes_per_s: float


def read_loads(pause: Callable[[float], object], seconds: float) -> list[ShardLoad]:
    """The load of every shard, by what is written while `pause(seconds)` runs.

    Raises: errors of a shard that does not answer. Cost: two queries of statistics a shard.
    """
    before = _read_counts()
    pause(seconds)
    after, owners = _read_counts(), bucket_map()
    return [
        ShardLoad(
            alias,
            [bucket for bucket, owner in enumerate(owners) if owner == alias],
            rows,
            max(0, writes - before[alias][1]) / seconds,
        )
        for alias, (rows, writes) in after.items()
    ]


def weigh(loads: Sequence[ShardLoad]) -> dict[str, float]:
    """The part of the site's work that each shard has: the mean of its parts of rows and writes.

    Of a site that writes nothing, its part of the rows; of one without rows, of the buckets.
    """
    rows = {load.alias: float(load.rows) for load in loads}
    writes = {load.alias: load.writes_per_s for load in loads}
    parts = [_parts(values) for values in (rows, writes) if sum(values.values())]
    parts = parts or [_parts({load.alias: float(len(load.buckets)) for load in loads})]
    return {load.alias: sum(part[load.alias] for part in parts) / len(parts) for load in loads}


def _parts(values: Mapping[str, float]) -> dict[str, float]:
    total = sum(values.values())
    return {alias: value / total for alias, value in values.items()}


def _read_counts() -> dict[str, tuple[int, int]]:
    names = [table.name for table in list_moved_tables()]
    calls = {alias: partial(fetch_one, alias, COUNTS, (names,)) for alias in shard_aliases()}
    return {alias: (row[0], row[1]) if row else (0, 0) for alias, row in scatter(calls).items()}


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
