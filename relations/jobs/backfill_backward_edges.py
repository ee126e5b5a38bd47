"""Writes the backward edges from the forward edges, after an import of forward edges only."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from counters.cache import load_account_entries
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from relations.actions.mirror import MirroredFollowee, mirror_on_shard, refresh_followers
from relations.cache import relationship_changes
from relations.jobs.edge_sightings import FORWARD, forward_of, read_backward_sightings
from relations.queries.edges import Pair, group_by_followee_shard
from relations.types import Edge

FOLLOWERS = CounterKind.FOLLOWERS


class ShardBackfill(NamedTuple):
    """How many edges of a batch one shard lacked, and the pairs whose followee does not exist."""

    missing: int
    orphans: list[Pair]


def backfill_backward_edges(work: Work) -> Iterator[Batch]:
    """Backward edges that are missing or older, and follower counts; a batch of forward edges each.

    Safety: idempotent, and correct while writes go on: mirror_on_shard ignores older revisions.
    Raises: RedisError, and the errors of UNREACHABLE; resume then. Cost: per batch and shard of
    followees two queries and three round trips; seven statements more when an edge is missing.
    """
    for alias, rows, position in walk_table(work, FORWARD):
        groups = group_by_followee_shard(forward_of(rows))
        filled = [_fill(target, group, work.dry_run) for target, group in groups.items()]
        orphans = [pair for batch in filled for pair in batch.orphans]
        lines = [f"edge {a} → {b}: account {b} does not exist" for a, b in orphans]
        missing = sum(batch.missing for batch in filled)
        yield Batch(len(rows) - len(orphans), len(orphans), alias, missing, position, lines)


def _fill(alias: str, forward: Mapping[Pair, Edge], dry_run: bool) -> ShardBackfill:
    backward = read_backward_sightings(alias, forward)
    orphans = [pair for pair, sighting in backward.items() if not sighting.has_account]
    edges = {pair: edge for pair, edge in forward.items() if backward[pair].has_account}
    missing = {p: edge for p, edge in edges.items() if edge.revision > backward[p].edge.revision}
    if not dry_run:
        _mirror(alias, missing, edges)
    return ShardBackfill(len(missing), orphans)


def _mirror(alias: str, missing: Mapping[Pair, Edge], pairs: Iterable[Pair]) -> None:
    """Refreshes the caches of all pairs: an earlier run may have died between rows and caches."""
    updated = mirror_on_shard(alias, missing) if missing else {}
    failpoint("relations.backfilled")
    viewers = [(followee_id, follower_id) for follower_id, followee_id in pairs]
    redis().run(relationship_changes(viewers))
    refresh_followers(_without_update(alias, {followee_id for followee_id, _ in viewers}) | updated)


def _without_update(alias: str, followee_ids: Iterable[int]) -> dict[int, MirroredFollowee]:
    wanted = list(followee_ids)
    counts, entries = read_counts(alias, wanted, [FOLLOWERS]), load_account_entries(wanted)
    return {i: MirroredFollowee(counts[i][FOLLOWERS].version, {}, entries[i]) for i in wanted}
