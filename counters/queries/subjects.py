"""Reads counts of what belongs to an owner, such as one of their posts."""

from collections.abc import Sequence

from counters.kinds import CounterKind
from counters.types import Count
from infra.sharding.sql import fetch_all

Subject = tuple[int, int]  # owner, subject

READ = """
SELECT c.owner_id, c.subject, c.kind, c.value, c.version
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (owner_id, subject)
JOIN counters_counter c USING (owner_id, subject)
WHERE c.kind = ANY(%s::smallint[])
"""
NONE_YET = Count(0, 0)


def read_subject_counts(
    alias: str, subjects: Sequence[Subject], kinds: Sequence[CounterKind]
) -> dict[Subject, list[Count]]:
    """Counts of subjects of one shard, in the order of `kinds`. One query, one snapshot."""
    counts = {subject: [NONE_YET] * len(kinds) for subject in subjects}
    columns = [[owner for owner, _ in subjects], [subject for _, subject in subjects]]
    places = {int(kind): place for place, kind in enumerate(kinds)}
    for owner, subject, kind, value, version in fetch_all(alias, READ, [*columns, list(places)]):
        counts[owner, subject][places[kind]] = Count(value, version)
    return counts
