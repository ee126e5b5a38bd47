"""Plans of the list of notifications, with many favourites and few mentions."""

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.queries.rows import IdRange, read_rows
from notifications.types import NotificationKind, Selection
from tests.budgets import count_calls
from tests.plans import nodes_of, rows_handled, settle
from tests.world import make_account

INBOX = "INSERT INTO notifications_inbox (owner_id, newest_tick) VALUES (%s, 1000000)"
# The mentions are the oldest. Others have notifications, too.
FILL = """
INSERT INTO notifications_notification
    (owner_id, from_id, kind, post_moment, post_author, id, at_ms, revision, is_on)
SELECT %(owner)s, n, CASE WHEN n <= 100 THEN 1 ELSE 4 END, n, %(owner)s,
    n * 10 + CASE WHEN n <= 100 THEN 1 ELSE 4 END, n, 1, n %% 50 <> 0
FROM generate_series(1, 20000) AS n
UNION ALL
SELECT 1000000 + n %% 100, n, 4, n, 1, n * 10 + 4, n, 1, true FROM generate_series(1, 20000) AS n
"""
A_PAGE = 41


@pytest.fixture
def owner(world):
    owner_id = make_account()
    execute(shard_of(owner_id), INBOX, (owner_id,))
    execute(shard_of(owner_id), FILL, {"owner": owner_id})
    settle(shard_of(owner_id), "notifications_notification", "notifications_inbox")
    return owner_id


MENTIONS = Selection([NotificationKind.MENTION])


def test_a_page_reads_no_more_entries_than_it_shows(owner):
    for ids in [
        IdRange(),
        IdRange(below=150_000),
        IdRange(10, newest_first=False),
    ]:
        for selection in [Selection(), MENTIONS]:
            with count_calls() as calls:
                read = read_rows(owner, selection, ids, A_PAGE)
            [statement] = calls.statements
            scans = [
                node
                for node in nodes_of(statement)
                if node.get("Relation Name") == "notifications_notification"
            ]
            assert {(one["Node Type"], one["Index Name"]) for one in scans} == {
                ("Index Only Scan", "notification_list")
            }, (selection, ids)
            assert len(read.rows) == A_PAGE, (selection, ids)
            # A plan rounds the rows of each kind up.
            assert sum(map(rows_handled, scans)) <= A_PAGE * 2 + len(selection.kinds), (
                selection,
                ids,
            )
