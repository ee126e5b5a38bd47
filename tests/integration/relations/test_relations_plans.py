"""Plans of the list queries on tables with thousands of rows, as autovacuum leaves them.

Queries of the largest account lists read rows by key only.
"""

import pytest

from infra.api.pages import Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.cache import FOLLOWERS, FOLLOWING
from relations.lists.queries.lists import (
    get_list_members,
    list_account_lists_and_members,
    list_account_lists_with,
    member_rows,
)
from relations.queries.edge_lists import EdgeList, list_page
from relations.queries.edge_rows import (
    BACKWARD,
    BACKWARD_NOTIFIED,
    BACKWARD_OPEN,
    BACKWARD_QUIET,
    FORWARD,
    FORWARD_BLOCKS,
    FORWARD_OPEN,
    FORWARD_QUIET,
    FORWARD_SPECIAL,
    muted_at,
    read_newest,
    read_oldest_above,
)
from relations.queries.familiar import load_familiar_followers
from relations.queries.followers import iter_followers, list_bounds
from relations.queries.loaders import load_followers_list, load_following_lists
from relations.queries.relationships import load_relationships
from relations.types import ListedAccount
from tests.budgets import count_calls
from tests.plans import assert_index_only, nodes_of, settle
from tests.world import make_account

OWN, OTHERS = 20_000, 40_000
# Of ten edges two have ended, one is quiet, one is a block and six are open; one in twenty is
# special, and another one notifies. Neighbours have as many rows together as the owner has.
EDGES = """
INSERT INTO {rows.table} ({rows.owner}, {rows.other}, attribute, flags, revision, since_ms)
SELECT %s, 1000000 + n, (ARRAY[0,2,3,1,1,0,1,1,1,1])[n %% 10 + 1],
    CASE n %% 20 WHEN 3 THEN 1 WHEN 4 THEN 4 ELSE 0 END, 1, 1000 + n / 3
FROM generate_series(1, %s) n
UNION ALL
SELECT 100000 + n %% 400 * 4, 1000000 + n, 1, 0, 1, 1000 + n FROM generate_series(1, %s) n
"""
MUTES = """
INSERT INTO {rows.table}
    ({rows.owner}, {rows.other}, is_on, hides_notifications, revision, since_ms, until_ms)
SELECT %s, 1000000 + n, n %% 5 > 0, true, 1, 1000 + n / 3, CASE n %% 10 WHEN 1 THEN 5 ELSE 0 END
FROM generate_series(1, %s) n
UNION ALL
SELECT 100000 + n %% 400 * 4, 1000000 + n, true, true, 1, 1000 + n, 0 FROM generate_series(1, %s) n
"""
NOTES = """
INSERT INTO relations_accountnote (owner_id, target_id, text)
SELECT %s, 1000000 + n, 'met in Oslo' FROM generate_series(1, %s) n
UNION ALL
SELECT 100000 + n %% 400 * 4, 1000000 + n, 'met in Oslo' FROM generate_series(1, %s) n
"""
INDEX_OF = {
    FORWARD: "forward_follows",
    FORWARD_OPEN: "forward_follows",
    FORWARD_QUIET: "forward_secrets",
    FORWARD_BLOCKS: "forward_secrets",
    BACKWARD: "backward_follows",
    BACKWARD_OPEN: "backward_follows",
    BACKWARD_QUIET: "backward_quiet",
    BACKWARD_NOTIFIED: "backward_notifies",
    muted_at(1_000): "muted_list",
}
FOLLOWS_OF = """
INSERT INTO relations_forwardedge (follower_id, followee_id, attribute, revision, since_ms)
SELECT %s, followee, 1, 1, 1 FROM unnest(%s::bigint[]) AS followee
"""
# The last digits of those whose edge is open: EDGES.
OPEN = {3, 4, 6, 7, 8, 9}
PAGE = 41
# Quiet ones among the open, and mutes that ran out, are skipped in the index.
PASSED_OVER = PAGE // 5


@pytest.fixture
def fill(world):
    """Call it with a list's rows: its owner, who has most of a large table."""

    def fill_table(rows) -> int:
        owner_id = make_account()
        alias = shard_of(owner_id)
        sql = MUTES if rows.table == "relations_muted" else EDGES
        execute(alias, sql.format(rows=rows), (owner_id, OWN, OTHERS))
        settle(alias, rows.table, "accounts_account")
        return owner_id

    return fill_table


def the_scan(calls, table: str):
    (statement,) = [s for s in calls.statements if table in s.sql]
    return statement


def assert_pages_read_the_index_only(rows, owner_id) -> None:
    """At any depth."""
    for depth in (None, ListedAccount(1_500, 1_000_000), ListedAccount(7_000, 1_000_000)):
        for read in (
            lambda at=depth: read_newest(rows, owner_id, at, None, PAGE),
            lambda at=depth: read_oldest_above(rows, owner_id, at or ListedAccount(0, 0), PAGE),
        ):
            with count_calls() as calls:
                assert len(read()) == PAGE
            scan = the_scan(calls, rows.table)
            assert_index_only(scan, INDEX_OF[rows], PAGE + PASSED_OVER)


def test_mutes_are_read_by_the_index_only(fill):
    assert_pages_read_the_index_only(muted_at(1_000), fill(muted_at(1_000)))


def test_follows_are_read_by_the_index_only(fill):
    owner_id = fill(FORWARD)
    for rows in (FORWARD, FORWARD_OPEN, FORWARD_QUIET, FORWARD_BLOCKS):
        assert_pages_read_the_index_only(rows, owner_id)
    assert_special_follows_are_found_among_the_follows_of_one_account(owner_id)
    with count_calls() as calls:
        loaded = load_following_lists(owner_id, FOLLOWING.begin_load(owner_id))
        assert len(loaded.follows) == OWN * 7 // 10
    assert_index_only(the_scan(calls, FORWARD.table), "forward_follows", OWN)


def assert_special_follows_are_found_among_the_follows_of_one_account(owner_id) -> None:
    with count_calls() as calls:
        assert len(read_newest(FORWARD_SPECIAL, owner_id, None, None, PAGE)) == PAGE
    nodes = nodes_of(the_scan(calls, FORWARD.table))
    (scan,) = [node for node in nodes if "Scan" in node["Node Type"]]
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Scan", "forward_follows")


def test_followers_are_read_by_the_index_only(fill):
    owner_id = fill(BACKWARD)
    for rows in (BACKWARD, BACKWARD_OPEN, BACKWARD_QUIET, BACKWARD_NOTIFIED):
        assert_pages_read_the_index_only(rows, owner_id)
    assert_filling_the_cache_reads_no_more_than_it_holds(owner_id)
    assert_bounds_of_chunks_are_counted_no_further_than_the_chunks_go(owner_id)
    with count_calls() as calls:  # as a fan-out does
        pages = list(iter_followers(owner_id))
    seen = [follower for page in pages for follower in page]
    assert len(seen) == len(set(seen)) == OWN * 7 // 10
    for statement in calls.statements:
        assert_index_only(statement, "backward_follows", 5_000)


def assert_filling_the_cache_reads_no_more_than_it_holds(owner_id) -> None:
    with count_calls() as calls:
        held = load_followers_list(owner_id, FOLLOWERS.begin_load(owner_id))
    assert len(held.items) == FOLLOWERS.max_items
    room = FOLLOWERS.max_items + 1
    assert_index_only(the_scan(calls, BACKWARD.table), "backward_follows", room * 7 // 6 + 1)


def assert_bounds_of_chunks_are_counted_no_further_than_the_chunks_go(owner_id) -> None:
    with count_calls() as calls:
        bounds = list_bounds(owner_id, None, 100, 5)
    assert bounds == read_newest(BACKWARD, owner_id, None, None, 500)[99::100]
    nodes = nodes_of(calls.statements[0])
    [scan] = [node for node in nodes if "Scan" in node["Node Type"] and "Index Name" in node]
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Only Scan", "backward_follows")
    assert scan["Actual Rows"] <= 500 * 10 // 7 + 1


LISTS = (
    "INSERT INTO lists_accountlist (owner_id, list_id, title, replies_policy)"
    " SELECT n, 1, 'x', 0 FROM generate_series(1, 5000) AS n",
    "INSERT INTO lists_listmember (owner_id, list_id, account_id, since_ms)"
    " SELECT n, 1, m, 1 FROM generate_series(1, 5000) AS n, generate_series(1, 5) AS m",
)
TABLES = (FORWARD, BACKWARD, muted_at(1_000))


def test_relationships_are_looked_up_by_whole_primary_keys(fill):
    owner_id = fill(FORWARD)
    alias, others = shard_of(owner_id), list(range(1_000_001, 1_000_101))
    execute(alias, EDGES.format(rows=BACKWARD), (owner_id, OWN, OTHERS))
    execute(alias, MUTES.format(rows=TABLES[2]), (owner_id, OWN, OTHERS))
    execute(alias, NOTES, (owner_id, OWN, OTHERS))
    for statement in LISTS:
        execute(alias, statement)
    of_lists = ["lists_accountlist", "lists_listmember"]
    tables = [*(rows.table for rows in TABLES), "relations_accountnote", *of_lists]
    settle(alias, *tables[1:])
    with count_calls() as calls:
        load_relationships(owner_id, others)
    statement = next(s for s in calls.statements if "unnest" in s.sql)
    scans = [node for node in nodes_of(statement) if "Relation Name" in node]
    assert {scan["Index Name"] for scan in scans} == {f"{table}_pkey" for table in tables}
    assert all(
        "kind = 0" in scan["Index Cond"]
        for scan in scans
        if scan["Relation Name"] not in ("relations_accountnote", *of_lists)
    )
    assert all(scan["Actual Rows"] <= 1 for scan in scans)


def test_familiar_followers_are_looked_up_and_not_found_among_all_followers(fill):
    """The target has thousands of followers, and the viewer few followees."""
    target, viewer = fill(BACKWARD), make_account()
    mine = list(range(1_000_001, 1_000_021))
    execute(shard_of(viewer), FOLLOWS_OF, (viewer, mine))
    with count_calls() as calls:
        familiar = load_familiar_followers(viewer, [target])[target]
    assert familiar == sorted((i for i in mine if i % 10 in OPEN), reverse=True)
    scans = [n for n in nodes_of(the_scan(calls, BACKWARD.table)) if "Relation Name" in n]
    assert [(scan["Index Name"], scan["Actual Loops"]) for scan in scans] == [
        (f"{BACKWARD.table}_pkey", len(mine))
    ]


OWNER, FOLLOWS, MEMBERS, BIG_LISTS = 1, 2_000, 500, 50
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
    execute(alias, FILL_LISTS, (BIG_LISTS, [OWNER, *range(90_001, 90_301)]))
    execute(alias, FILL_MEMBERS, (MEMBERS, BIG_LISTS, owners))
    settle(alias, "relations_forwardedge", "lists_accountlist", "lists_listmember")
    return alias


@pytest.mark.parametrize(
    ("read", "most_rows"),
    [
        (lambda: get_list_members(OWNER, 7).account_ids, FOLLOWS),
        (lambda: list_account_lists_with(OWNER, 1_001), BIG_LISTS),
        (lambda: list_account_lists_and_members(OWNER), BIG_LISTS * MEMBERS),
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
