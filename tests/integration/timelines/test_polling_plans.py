"""Plans of the query for late posts, on a day of many authors."""

from datetime import UTC, datetime

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import EPOCH, SEQUENCES, PostId, second_of
from tests.budgets import count_calls
from tests.plans import nodes_of, rows_handled, settle
from timelines.polling.late_posts import load_late_posts
from timelines.recent.days import PARTITIONS, kept_days
from timelines.recent.queries.late_rows import PolledAuthors

READER, AUTHORS, FOLLOWEES, LATE = 1, 20_000, 500, 300
ALIAS = "shard1"
NOW = datetime(2021, 3, 10, 23, 30, tzinfo=UTC)
SECOND = second_of(NOW.timestamp())
# A post a second of all authors together, the last day, each a tenth of a second after its second.
FILL = f"""
INSERT INTO timelines_recentpost
SELECT n * 7919::bigint %% {AUTHORS} + 2, ({SECOND} - n) * {SEQUENCES}::bigint, NULL, NULL,
    ({SECOND + EPOCH} - n) * 1000::bigint + 100
FROM generate_series(0, 80000) n
"""
FOLLOW = """
INSERT INTO relations_forwardedge (follower_id, followee_id, attribute, revision, since_ms)
SELECT %s, id, 1, 1, id FROM generate_series(2, %s + 1) id
"""
# The posts of one minute became visible a minute later.
SETTLE = f"""
UPDATE timelines_recentpost SET settled = (moment / {SEQUENCES} + {EPOCH}) * 1000 + 60000
WHERE moment / {SEQUENCES} BETWEEN {SECOND} - 7200 AND {SECOND} - 7200 + %s
"""


@pytest.fixture
def day(world):
    assert shard_of(READER) == ALIAS
    PARTITIONS.make(ALIAS, kept_days(NOW.date()))
    execute(ALIAS, FILL)
    execute(ALIAS, FOLLOW, (READER, FOLLOWEES))
    execute(ALIAS, SETTLE, (LATE,))
    settle(ALIAS, "timelines_recentpost", "relations_forwardedge")
    yield
    for name in PARTITIONS.names(ALIAS):
        execute(ALIAS, f"DROP TABLE {name}")


def scans(cursor, floor):
    """The late posts, and the scans of the index that ran."""
    with count_calls() as calls:
        late = load_late_posts(PolledAuthors(READER), cursor, floor)
    (statement,) = calls.statements
    nodes = [node for node in nodes_of(statement) if node["Actual Loops"]]
    found = [node for node in nodes if "recentpost" in node.get("Relation Name", "")]
    assert not [node for node in found if node["Node Type"] == "Seq Scan" and rows_handled(node)]
    return late, found


def test_who_polls_all_the_time_reads_a_few_seconds(day):
    newest = PostId(SECOND, 20_001, 0)
    late, found = scans(newest, (SECOND + EPOCH) * 1000 - 2_000)
    assert all(one.event.second >= SECOND - 2 for one in late.posts)
    assert sum(map(rows_handled, found)) < 100


def test_an_old_cursor_and_a_recent_poll_read_the_late_ones_only(day):
    cursor, floor = PostId(SECOND - 7_200 + LATE, 20_001, 0), (SECOND + EPOCH) * 1000
    late, found = scans(cursor, floor)
    assert late.posts == []
    assert sum(map(rows_handled, found)) == 0


def test_posts_that_were_settled_after_the_floor_are_found_by_their_index(day):
    """A minute without a record: the reader follows few of the authors."""
    floor = (SECOND + EPOCH - 7_200 + 59) * 1000
    late, found = scans(PostId(SECOND - 7_200 + LATE + 1, 20_001, 0), floor)
    assert 0 < len(late.posts) < LATE
    assert sum(map(rows_handled, found)) <= 2 * (LATE + 1)
