"""A count that changes gets its next version in the same page, so that no index is written."""

from django.db import transaction

from infra.sharding.sql import execute, fetch_one

# As many pages full of counts as a community has after a while.
FILL = """
INSERT INTO counters_counter (owner_id, subject, kind, value, version)
SELECT owner_id, 0, 1, 1, 1 FROM generate_series(1, 5000) AS owner_id
"""
MOVE = "SELECT counters_move(owner_id, 0, 1, 1) FROM generate_series(1, 5000, 25) AS owner_id"
# Also of earlier transactions that the session has not reported yet.
UPDATES = """
SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'counters_counter'
"""


def test_moves_of_counts_in_full_pages_write_no_index(world: None) -> None:
    execute("shard0", "TRUNCATE counters_counter")
    with transaction.atomic("shard0"):
        execute("shard0", FILL)
        before = fetch_one("shard0", UPDATES) or (0, 0)
        execute("shard0", MOVE)
        after = fetch_one("shard0", UPDATES) or (0, 0)
        assert (after[0] - before[0], after[1] - before[1]) == (200, 200)
