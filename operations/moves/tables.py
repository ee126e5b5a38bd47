"""The tables whose rows belong to one account or tag, and so move with its bucket.

About how much a move copies: by the last ANALYZE, without reading a table.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.apps import apps
from django.conf import settings
from django.db.models import Model

from infra.sharding.buckets import BucketSet, bucket_map
from infra.sharding.placement import Placement, placement_of
from infra.sharding.sql import fetch_all

# A table without partitions is its own part.
LEAVES = """
SELECT part.oid::regclass::text, pg_relation_size(part.oid) / current_setting('block_size')::int
FROM pg_class AS part WHERE part.relkind = 'r' AND part.oid IN (
    SELECT %s::regclass UNION SELECT relid FROM pg_partition_tree(%s::regclass)
) ORDER BY 1
"""


class MovedTable(NamedTuple):
    """`columns`: all that are replicated, in one order on every shard."""

    name: str
    owner: str
    columns: tuple[str, ...]


class BlockRange(NamedTuple):
    """A part of a table that one statement reads. Moves find their rows by reading whole tables."""

    table: str
    first: int
    end: int

    @property
    def condition(self) -> str:
        return f"ctid >= '({self.first},0)'::tid AND ctid < '({self.end},0)'::tid"


def list_moved_tables() -> list[MovedTable]:
    """All tables with placement SHARDED, and the recent-posts index if it is by author. By name.

    No query.
    """
    models = [model for model in apps.get_models() if _moves(model)]
    tables = []
    for model in models:
        fields = [f for f in model._meta.local_concrete_fields if not getattr(f, "generated", 0)]
        owner = next(str(field.column) for field in fields if field.name == _owner_of(model))
        columns = tuple(sorted(str(field.column) for field in fields))
        tables.append(MovedTable(model._meta.db_table, owner, columns))
    return sorted(tables)


def _moves(model: type[Model]) -> bool:
    placement = placement_of(model)
    is_by_author = placement is Placement.REPLICATED and hasattr(model, "owner")
    return placement is Placement.SHARDED or (is_by_author and settings.RECENT_INDEX == "by_author")


def _owner_of(model: type[Model]) -> str:
    return str(getattr(model, "owner"))  # noqa: B009 - mypy does not know which models have it


def iter_block_ranges(alias: str, table: MovedTable, blocks: int) -> Iterator[BlockRange]:
    """The table in parts of so many blocks, partition by partition. One query."""
    for leaf, size in fetch_all(alias, LEAVES, (table.name, table.name)):
        for first in range(0, size, blocks):
            # The last part also has what is added while it is read.
            end = first + blocks if first + blocks < size else 2**32 - 2
            yield BlockRange(leaf, first, end)


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
