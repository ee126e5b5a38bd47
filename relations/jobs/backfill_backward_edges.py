"""Writes the derived side from the truth: for a migration that brought forward edges only."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from relations.actions.mirror import (
    MirroredFollowee,
    Pair,
    group_by_followee_shard,
    mirror_on_shard,
    refresh_followers,
)
from relations.cache import relationship_changes
from relations.jobs.edge_sightings import FORWARD, forward_of, read_backward_sightings
from relations.types import Edge


class ShardBackfill(NamedTuple):
    """What one shard lacked of a batch, and the pairs whose followee does not exist."""

    lacking: int
    nobody: list[Pair]


def backfill_backward_edges(work: Work) -> Iterator[Batch]:
    """Backward edges that are missing or older, and follower counts; a batch of forward edges each.

    Safety: idempotent, and beside living writes: an older revision never lands (mirror_on_shard).
    Raises: RedisError, what UNREACHABLE lists; resume then. Cost: per batch and shard of followees
    two queries and three round trips; seven statements more where something lacks.
    """
    for alias, rows, position in walk_table(work, FORWARD):
        groups = group_by_followee_shard(forward_of(rows))
        filled = [_fill(target, group, work.dry_run) for target, group in groups.items()]
        nobody = [pair for one in filled for pair in one.nobody]
        lines = [f"edge {a} → {b}: account {b} does not exist" for a, b in nobody]
        lacking = sum(one.lacking for one in filled)
        yield Batch(len(rows) - len(nobody), len(nobody), alias, lacking, position, lines)


def _fill(alias: str, forward: Mapping[Pair, Edge], dry_run: bool) -> ShardBackfill:
    found = read_backward_sightings(alias, forward)
    nobody = [pair for pair, there in found.items() if not there.has_account]
    mirrored = {pair: forward[pair] for pair, there in found.items() if there.has_account}
    lacking = {p: e for p, e in mirrored.items() if e.revision > found[p].edge.revision}
    if not dry_run:
        _mirror(alias, lacking, mirrored)
    return ShardBackfill(len(lacking), nobody)


def _mirror(alias: str, lacking: Mapping[Pair, Edge], looked_at: Iterable[Pair]) -> None:
    """Caches are refreshed of all that were looked at: an earlier run may have died before."""
    news = mirror_on_shard(alias, lacking) if lacking else {}
    failpoint("relations.backfilled")
    facing = [(followee_id, follower_id) for follower_id, followee_id in looked_at]
    redis().run(relationship_changes(facing))
    refresh_followers(_as_they_are(alias, {followee_id for followee_id, _ in facing}) | news)


def _as_they_are(alias: str, followee_ids: Iterable[int]) -> dict[int, MirroredFollowee]:
    counts = read_counts(alias, list(followee_ids), [CounterKind.FOLLOWERS])
    return {
        i: MirroredFollowee(kinds[CounterKind.FOLLOWERS].version, {}) for i, kinds in counts.items()
    }
