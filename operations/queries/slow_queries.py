"""Queries that run long on a database now."""

from typing import NamedTuple

from infra.sharding.sql import fetch_all

SLOW_S = 1
MOST = 20
LONGEST_TEXT = 300
# Idle transactions count as well: they hold locks.
IS_SLOW = f"""
datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND state <> 'idle' AND clock_timestamp() - coalesce(state_change, query_start)
        > interval '{SLOW_S} s'
"""
LIST = f"""
SELECT pid, extract(epoch FROM clock_timestamp() - coalesce(state_change, query_start))::float8,
    state, coalesce(wait_event_type, ''), left(query, {LONGEST_TEXT})
FROM pg_stat_activity WHERE {IS_SLOW} ORDER BY 2 DESC LIMIT {MOST}
"""  # noqa: S608 - of constants


class SlowQuery(NamedTuple):
    """`age_s`: how long the query has run, or its transaction has been idle.

    `waits_for` may be empty. `text` may contain values of rows.
    """

    pid: int
    age_s: float
    state: str
    waits_for: str
    text: str


def list_slow(alias: str) -> list[SlowQuery]:
    """At most MOST queries, the longest first. One query."""
    return [SlowQuery(*row) for row in fetch_all(alias, LIST)]
