"""Queries of the largest account lists read rows by key only."""

import pytest

from infra.api.pages import Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.lists.queries.lists import (
    get_list_members,
    list_account_lists_and_members,
    list_account_lists_with,
    member_rows,
)
from relations.queries.edge_lists import EdgeList, list_page
from tests.budgets import count_calls
from tests.plans import nodes_of, settle

OWNER, FOLLOWS, MEMBERS, LISTS = 1, 2_000, 500, 50
FILL_EDGES = """
INSERT INTO relations_forwardedge (follower_id, followee_id, attribute, revision, since_ms)
SELECT owner, 1000 + n, 1, 1, n FROM generate_series(1, %s) n, unnest(%s::bigint[]) owner
"""
FILL_MEMBERS = """
INSERT INTO lists_listmember (owner_id, list_id, account_id, since_ms)
SELECT owner, list_id, 1000 + n, n
FROM generate_series(1, %s) n, generate_series(1, %s) list_id, unnest(%s::bigint[]) owner
"""
FILL_LISTS = """
INSERT INTO lists_accountlist (owner_id, list_id, title, replies_policy)
SELECT owner, list_id, 'x', 0 FROM generate_series(1, %s) list_id, unnest(%s::bigint[]) owner
"""


@pytest.fixture
def shard(world):
    alias, owners = shard_of(OWNER), [OWNER, 90_001, 90_002]
    # So many that reading all of them is never the cheapest.
    execute(alias, FILL_EDGES, (FOLLOWS, [OWNER, *range(90_001, 90_021)]))
    execute(alias, FILL_LISTS, (LISTS, [OWNER, *range(90_001, 90_301)]))
    execute(alias, FILL_MEMBERS, (MEMBERS, LISTS, owners))
    settle(alias, "relations_forwardedge", "lists_accountlist", "lists_listmember")
    return alias


@pytest.mark.parametrize(
    ("read", "most_rows"),
    [
        (lambda: get_list_members(OWNER, 7).account_ids, FOLLOWS),
        (lambda: list_account_lists_with(OWNER, 1_001), LISTS),
        (lambda: list_account_lists_and_members(OWNER), LISTS * MEMBERS),
        (lambda: list_page(EdgeList(member_rows(7)), OWNER, Window(80)).items, FOLLOWS),
    ],
    ids=["members", "lists with somebody", "lists and members", "page of members"],
)
def test_only_rows_of_the_owner_are_looked_at(shard, read, most_rows):
    with count_calls() as calls:
        assert read()
    (statement,) = calls.statements
    nodes = nodes_of(statement)
    assert not [node for node in nodes if node["Node Type"] == "Seq Scan"]
    scans = [node for node in nodes if "Scan" in node["Node Type"]]
    looked_at = [
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in scans
    ]
    assert max(looked_at) <= most_rows, [
        (node["Node Type"], node.get("Index Name")) for node in scans
    ]
