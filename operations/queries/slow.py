"""Queries that run long on a database right now."""

from typing import NamedTuple

from infra.sharding.sql import fetch_all

SLOW_S = 1
MOST = 20
LONGEST_TEXT = 300
# Also transactions that are open and do nothing: they hold locks.
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
    """`age_s`: for how long it has run, or its transaction done nothing. `waits_for`: or empty.

    `text` may have values of rows in it.
    """

    pid: int
    age_s: float
    state: str
    waits_for: str
    text: str


def list_slow(alias: str) -> list[SlowQuery]:
    """The longest first, MOST at most. One query."""
    return [SlowQuery(*row) for row in fetch_all(alias, LIST)]
