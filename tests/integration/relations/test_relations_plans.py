"""Plans of the list queries on tables with thousands of rows, as autovacuum leaves them."""

import pytest

from infra.api.pages import Window
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.queries.followers import iter_followers
from relations.queries.lists import FOLLOWERS_LIST, FOLLOWING_LIST, encode_cursor, list_page
from relations.queries.relationships import load_relationships
from relations.types import Listed
from tests.budgets import count_calls
from tests.plans import assert_index_only, nodes_of, settle
from tests.world import make_account

OWN, OTHERS = 20_000, 40_000
# A fifth of the edges has ended; neighbours have as many rows together as the owner has.
FILL = """
INSERT INTO {table} ({owner}, {other}, attribute, revision, since_ms)
SELECT %s, 1000000 + n, CASE WHEN n %% 5 = 0 THEN 0 ELSE 1 END, 1, 1000 + n / 3
FROM generate_series(1, %s) n
UNION ALL
SELECT 100000 + n %% 400 * 4, 1000000 + n, 1, 1, 1000 + n FROM generate_series(1, %s) n
"""
INDEXES = {
    "relations_forwardedge": "forward_follows",
    "relations_backwardedge": "backward_follows",
}


@pytest.fixture(params=[FOLLOWING_LIST, FOLLOWERS_LIST], ids=["following", "followers"])
def filled(request, world):
    """A list and its owner, who has most of a large table."""
    edge_list, owner_id = request.param, make_account()
    table, owner, other = edge_list.side
    alias = shard_of(owner_id)
    execute(alias, FILL.format(table=table, owner=owner, other=other), (owner_id, OWN, OTHERS))
    settle(alias, table, "accounts_account")
    return edge_list, owner_id


def the_scan(calls, table: str):
    (statement,) = [s for s in calls.statements if table in s.sql]
    return statement


@pytest.mark.parametrize("depth", [None, 1_500, 7_000])
def test_pages_at_any_depth_read_the_index_only(filled, depth, monkeypatch):
    edge_list, owner_id = filled
    table = edge_list.side.table
    monkeypatch.setattr("relations.queries.lists.fill", lambda *_: None)
    cursor = encode_cursor(Listed(depth, 1_000_000)) if depth else None
    redis().call("ZADD", edge_list.cache.key(owner_id), -2, "newest")  # cached, and nobody in it
    floor = cursor or encode_cursor(Listed(0, 0))
    for window in (Window(40, max_id=cursor), Window(40, min_id=floor)):
        with count_calls() as calls:
            assert len(list_page(edge_list, owner_id, window).items) == 40
        assert_index_only(the_scan(calls, table), INDEXES[table], 41)


def test_filling_the_cache_reads_the_index_only(filled):
    edge_list, owner_id = filled
    table = edge_list.side.table
    with count_calls() as calls:
        list_page(edge_list, owner_id, Window(40))
    assert_index_only(the_scan(calls, table), INDEXES[table], OWN)


def test_relationships_are_looked_up_by_key(filled):
    edge_list, owner_id = filled
    with count_calls() as calls:
        load_relationships(owner_id, range(1_000_000, 1_000_100))
    (statement,) = calls.statements
    nodes = [n for n in nodes_of(statement) if n.get("Relation Name") == edge_list.side.table]
    assert {node["Node Type"] for node in nodes} <= {
        "Index Scan",
        "Index Only Scan",
        "Bitmap Heap Scan",
    }


def test_fan_out_scans_all_followers_by_the_index_only(world):
    owner_id = make_account()
    table, owner, other = FOLLOWERS_LIST.side
    alias = shard_of(owner_id)
    execute(alias, FILL.format(table=table, owner=owner, other=other), (owner_id, OWN, OTHERS))
    settle(alias, table)
    with count_calls() as calls:
        pages = list(iter_followers(owner_id))
    seen = [follower for page in pages for follower in page]
    assert len(seen) == len(set(seen)) == OWN * 4 // 5
    for statement in calls.statements:
        assert_index_only(statement, INDEXES[table], 5_000)
