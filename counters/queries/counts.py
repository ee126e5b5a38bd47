"""Reads the counts of accounts, and of other subjects such as posts, from their shards."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from counters.kinds import ACCOUNT_KINDS, CounterKind
from counters.types import ACCOUNT, AccountCounts, Count
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all

Subject = tuple[int, int]  # owner, subject

READ = """
SELECT owner_id, kind, value, version FROM counters_counter
WHERE owner_id = ANY(%s::bigint[]) AND subject = %s AND kind = ANY(%s::smallint[])
"""
READ_SUBJECTS = """
SELECT c.owner_id, c.subject, c.kind, c.value, c.version
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (owner_id, subject)
JOIN counters_counter c USING (owner_id, subject)
"""
POSTPONED = """
SELECT owner_id, kind, sum(delta)::bigint FROM counters_postponedmove
WHERE owner_id = ANY(%s::bigint[]) AND subject = %s GROUP BY owner_id, kind
"""
NONE_YET = Count(0, 0)


def read_counts(
    alias: str, owner_ids: Sequence[int], kinds: Sequence[CounterKind]
) -> dict[int, dict[CounterKind, Count]]:
    """Counts of accounts of one shard, with every owner and kind. One query, one snapshot."""
    counts = {owner_id: dict.fromkeys(kinds, NONE_YET) for owner_id in owner_ids}
    rows = fetch_all(alias, READ, (list(owner_ids), ACCOUNT, [int(kind) for kind in kinds]))
    for owner_id, kind, value, version in rows:
        counts[owner_id][CounterKind(kind)] = Count(value, version)
    return counts


def read_postponed(alias: str, owner_ids: Sequence[int]) -> dict[tuple[int, CounterKind], int]:
    """What is still to be added to counts of these accounts, by account and kind. One query."""
    rows = fetch_all(alias, POSTPONED, (list(owner_ids), ACCOUNT))
    return {(owner_id, CounterKind(kind)): delta for owner_id, kind, delta in rows}


def read_subject_counts(
    alias: str, subjects: Sequence[Subject], kinds: Sequence[CounterKind]
) -> dict[Subject, list[Count]]:
    """Counts of subjects of one shard, in the order of `kinds`. One query, one snapshot."""
    counts = {subject: [NONE_YET] * len(kinds) for subject in subjects}
    owners, parts = [owner for owner, _ in subjects], [subject for _, subject in subjects]
    order = {int(kind): index for index, kind in enumerate(kinds)}
    for owner, subject, kind, value, version in fetch_all(alias, READ_SUBJECTS, [owners, parts]):
        if kind in order:
            counts[owner, subject][order[kind]] = Count(value, version)
    return counts


def load_counts(
    owner_ids: Iterable[int], kinds: Sequence[CounterKind] = ACCOUNT_KINDS
) -> Mapping[int, Mapping[CounterKind, Count]]:
    """Counts of any accounts, from the source. One query for each shard of them."""
    answers = scatter(
        {
            alias: partial(read_counts, alias, ids, kinds)
            for alias, ids in group_by_shard(owner_ids).items()
        }
    )
    return {owner_id: counts for answer in answers.values() for owner_id, counts in answer.items()}


def summarise(counts: Mapping[CounterKind, Count]) -> AccountCounts:
    return AccountCounts(*(counts[kind].value for kind in ACCOUNT_KINDS))
