"""How PostgreSQL runs a statement that was caught by tests.budgets, with what it was given."""

import json
import time
from typing import Any

from django.db import connections

from infra.sharding.sql import execute, fetch_one
from tests.budgets import Statement

SETTLE_S = 3
UNSETTLED = """
SELECT relallvisible, relpages FROM pg_class
WHERE oid = %s::regclass AND relallvisible < relpages
"""


def settle(alias: str, *tables: str) -> None:
    """As autovacuum leaves tables: statistics known, all pages visible.

    They are written anew first: with the room and the dead entries that rows of earlier tests left,
    an index looks dearer than it is, and another plan may seem the cheaper one.

    A page that somebody looks at (the background writer, autovacuum) is passed over: once more,
    though not for ever; no assertion rests on the last page.
    """
    for table in tables:
        deadline = time.monotonic() + SETTLE_S
        execute(alias, f"VACUUM FULL {table}")
        execute(alias, f"VACUUM ANALYZE {table}")
        while fetch_one(alias, UNSETTLED, (table,)) and time.monotonic() < deadline:
            time.sleep(0.05)
            execute(alias, f"VACUUM {table}")


def nodes_of(statement: Statement) -> list[dict[str, Any]]:
    """Every node of the plan, outermost first, as it went (EXPLAIN ANALYZE)."""
    with connections[statement.alias].cursor() as cursor:
        sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement.sql}"
        cursor.execute(sql, statement.params)
        plan = cursor.fetchone()[0]
    (top,) = json.loads(plan) if isinstance(plan, str) else plan
    return _flatten(top["Plan"])


def _flatten(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node] + [inner for child in node.get("Plans", []) for inner in _flatten(child)]


def rows_handled(node: dict[str, Any]) -> int:
    """By one node of a plan, over all its loops, with those it threw away."""
    removed = sum(count for name, count in node.items() if name.startswith("Rows Removed"))
    return int((node["Actual Rows"] + removed) * node["Actual Loops"])


def assert_index_only(statement: Statement, index: str, rows: int) -> None:
    """Read through this index alone, and no more entries than were asked for.

    Heap pages may still be looked at for a moment: a snapshot held elsewhere, autovacuum's own
    for one, keeps a vacuum from marking them, and that is not the statement's doing.
    """
    scans = [node for node in nodes_of(statement) if "Scan" in node["Node Type"]]
    assert [(scan["Node Type"], scan["Index Name"]) for scan in scans] == [
        ("Index Only Scan", index)
    ], statement.sql
    (scan,) = scans
    assert scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0) <= rows
