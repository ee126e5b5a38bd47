"""Changes that were delivered, so that a reader of the change feed gets them."""

from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_one
from tests.waiting import until
from tests.world import drain_all

# A transaction of this database is one that the test keeps open on purpose.
HELD_BACK_BY_OTHERS = """
SELECT EXISTS (
    SELECT FROM changes_delivered WHERE filed_by >= pg_snapshot_xmin(pg_current_snapshot())
) AND NOT EXISTS (
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL
)
"""


def deliver_all() -> None:
    """Until no transaction of another database on the same servers, of other tests, holds any
    back."""
    drain_all()
    until(lambda: not any(_are_held_back(alias) for alias in all_aliases()))


def _are_held_back(alias: str) -> bool:
    row = fetch_one(alias, HELD_BACK_BY_OTHERS)
    return row is not None and bool(row[0])
