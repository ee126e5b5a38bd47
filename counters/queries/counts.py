"""Reads counts from their shards."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from counters.kinds import ACCOUNT_KINDS, CounterKind
from counters.types import ACCOUNT, AccountCounts, Count
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all

READ = """
SELECT owner_id, kind, value, version FROM counters_counter
WHERE owner_id = ANY(%s::bigint[]) AND subject = %s AND kind = ANY(%s::smallint[])
"""
NONE_YET = Count(0, 0)


def read_counts(
    alias: str, owner_ids: Sequence[int], kinds: Sequence[CounterKind]
) -> dict[int, dict[CounterKind, Count]]:
    """Counts of accounts of one shard, every owner and kind present. One query, one snapshot."""
    counts = {owner_id: dict.fromkeys(kinds, NONE_YET) for owner_id in owner_ids}
    rows = fetch_all(alias, READ, (list(owner_ids), ACCOUNT, [int(kind) for kind in kinds]))
    for owner_id, kind, value, version in rows:
        counts[owner_id][CounterKind(kind)] = Count(value, version)
    return counts


def load_counts(
    owner_ids: Iterable[int], kinds: Sequence[CounterKind] = ACCOUNT_KINDS
) -> Mapping[int, Mapping[CounterKind, Count]]:
    """Counts of any accounts, from the source. One query per shard concerned."""
    answers = scatter(
        {
            alias: partial(read_counts, alias, ids, kinds)
            for alias, ids in group_by_shard(owner_ids).items()
        }
    )
    return {owner_id: counts for answer in answers.values() for owner_id, counts in answer.items()}


def summarise(counts: Mapping[CounterKind, Count]) -> AccountCounts:
    return AccountCounts(*(counts[kind].value for kind in ACCOUNT_KINDS))
