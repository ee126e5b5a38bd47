"""About how much a move copies: by the last ANALYZE, without reading a table."""

from typing import NamedTuple

from infra.sharding.bucket_set import BucketSet
from infra.sharding.buckets import bucket_map
from infra.sharding.sql import fetch_all
from operations.moves.tables import list_moved_tables

SIZES = """
SELECT top.relname, sum(greatest(leaf.reltuples, 0))::bigint,
    sum(pg_total_relation_size(tree.relid))::bigint
FROM pg_class AS top CROSS JOIN LATERAL (
    SELECT top.oid::regclass AS relid UNION SELECT relid FROM pg_partition_tree(top.oid)
) AS tree JOIN pg_class AS leaf ON leaf.oid = tree.relid
WHERE top.oid = ANY(%s::regclass[]) AND leaf.relkind = 'r' GROUP BY 1
"""


class Estimate(NamedTuple):
    """Of the rows that move. `by_table`: their number."""

    by_table: dict[str, int]
    size_bytes: int

    @property
    def rows(self) -> int:
        return sum(self.by_table.values())


def estimate(source: str, buckets: BucketSet) -> Estimate:
    """One query."""
    share = buckets.size / max(1, list(bucket_map()).count(source))
    names = [table.name for table in list_moved_tables()]
    rows = fetch_all(source, SIZES, (names,))
    by_table = {name: round(count * share) for name, count, _ in rows}
    return Estimate(by_table, round(sum(size for _, _, size in rows) * share))
