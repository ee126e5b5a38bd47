"""Walks: every row once, by key, over all shards, from anywhere.

Checkpoints: a job's place, kept by job and scope.
"""

import json

import pytest
from django.conf import settings

from infra.jobs.checkpoints import delete_checkpoint, find_checkpoint, save_checkpoint
from infra.jobs.models import JobCheckpoint
from infra.jobs.types import Work
from infra.jobs.walk import Table, estimate_rows, walk, walk_table
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.world import make_accounts

ACCOUNTS = Table("accounts_account", key=("id",), columns=("username",))
EDGES = Table("relations_forwardedge", key=("follower_id", "followee_id"))
BY_FOLLOWEE = Table("relations_forwardedge", ("followee_id", "follower_id"), owner="follower_id")


@pytest.fixture
def network(world):
    ids = make_accounts(11)
    for follower in ids[:6]:
        for followee in ids[:6]:
            if follower != followee:
                follow(follower, followee)
    return ids


def everything(**asked):
    return Work(settings.SHARD_ALIASES, **asked)


def rows_of(work, table=EDGES):
    return [(piece.alias, *row) for piece in walk_table(work, table) for row in piece.rows]


def truth():
    sql = "SELECT follower_id, followee_id FROM relations_forwardedge ORDER BY 1, 2"
    return [(alias, *row) for alias in settings.SHARD_ALIASES for row in fetch_all(alias, sql)]


@pytest.mark.parametrize("size", [1, 2, 3, 500])
def test_every_row_once_in_key_order(network, size):
    assert rows_of(everything(batch_size=size)) == truth()
    assert len(truth()) == 30


def test_columns_come_after_the_key(network):
    found = rows_of(everything(), ACCOUNTS)
    assert sorted(row[1] for row in found) == network
    assert all(name.startswith("person") for _, _, name in found)


def test_pieces_are_of_one_shard_and_no_larger_than_asked(network):
    pieces = list(walk_table(everything(batch_size=4), EDGES))
    assert max(len(piece.rows) for piece in pieces) == 4
    assert all(piece.rows for piece in pieces)
    assert all(shard_of(row[0]) == piece.alias for piece in pieces for row in piece.rows)


@pytest.mark.parametrize("size", [1, 4, 7])
def test_goes_on_behind_any_piece(network, size):
    pieces = list(walk_table(everything(batch_size=size), EDGES))
    for number, piece in enumerate(pieces):
        after = json.loads(json.dumps(piece.position))
        rest = list(walk_table(everything(batch_size=size, after=after), EDGES))
        assert rest == pieces[number + 1 :]


@pytest.mark.parametrize("limit", [1, 4, 29, 30, 31])
def test_limit_is_exact_and_over_all_shards(network, limit):
    found = rows_of(everything(batch_size=4, limit=limit))
    assert found == truth()[:limit]


@pytest.mark.parametrize("table", [EDGES, BY_FOLLOWEE])
def test_rows_of_one_account(network, table):
    mine = network[3]
    work = Work([shard_of(mine)], account_id=mine, batch_size=2)
    found = {frozenset(row[1:]) for row in rows_of(work, table)}
    assert found == {frozenset((mine, other)) for other in network[:6] if other != mine}


def test_condition_is_kept_on_every_page(network):
    table = Table("relations_forwardedge", EDGES.key, where="false OR followee_id % 2 = 0")
    assert rows_of(everything(batch_size=2), table) == [r for r in truth() if r[2] % 2 == 0]


def test_rows_deleted_and_changed_on_the_way_hide_no_others(network):
    seen = []
    for piece in walk_table(everything(batch_size=2), EDGES):
        seen += [(piece.alias, *row) for row in piece.rows]
        for row in piece.rows:
            sql = "DELETE FROM relations_forwardedge WHERE follower_id = %s AND followee_id = %s"
            execute(piece.alias, sql, row)
    assert len(seen) == 30
    assert truth() == []


def test_costs_one_query_a_piece_and_one_a_shard(network):
    with count_calls() as calls:
        pieces = list(walk_table(Work(["shard0"], batch_size=3), EDGES))
    assert calls.sql["shard0"] == len(pieces) + 1


def test_rows_may_come_from_anywhere():
    rows = {"shard0": [(1, "a"), (2, "b"), (5, "c")], "shard1": [], "shard2": [(3, "d")]}

    def read(alias, after, count):
        return [row for row in rows[alias] if after is None or [row[0]] > after][:count]

    pieces = list(walk(Work(list(rows), batch_size=2), read, owner_at=None))
    assert [piece.rows for piece in pieces] == [[(1, "a"), (2, "b")], [(5, "c")], [(3, "d")]]
    assert [piece.position["key"] for piece in pieces] == [[2], [5], [3]]


def test_estimate_is_what_analyze_knows(network):
    for alias in settings.SHARD_ALIASES:
        execute(alias, "ANALYZE relations_forwardedge")
    assert estimate_rows(everything(), EDGES) == 30
    assert estimate_rows(everything(limit=7), EDGES) == 7
    assert estimate_rows(Work(["shard0"], account_id=4), EDGES) is None


def test_copies_of_rows_of_another_shard_are_left_out(network):
    """As a move of buckets makes them on its target and leaves them on its source."""
    other = next(alias for alias in settings.SHARD_ALIASES if alias != shard_of(network[0]))
    execute(
        other,
        "INSERT INTO accounts_account (id, username, created_at) VALUES (%s, 'copy', now())",
        (network[0],),
    )
    found = rows_of(everything(batch_size=2), ACCOUNTS)
    assert sorted(row[1] for row in found) == network


def test_last_place_is_found_again(world):
    save_checkpoint("load_graph", "file-a", {"line": 1})
    first = JobCheckpoint.objects.get()
    save_checkpoint("load_graph", "file-a", {"line": 2, "ids": [2**60]})
    assert find_checkpoint("load_graph", "file-a") == {"line": 2, "ids": [2**60]}
    assert JobCheckpoint.objects.get().updated_at > first.updated_at


def test_jobs_and_scopes_are_kept_apart(world):
    save_checkpoint("load_graph", "file-a", 1)
    save_checkpoint("load_graph", "file-b", 2)
    save_checkpoint("recount", "file-a", 3)
    places = [("load_graph", "file-a"), ("load_graph", "file-b"), ("recount", "file-a")]
    assert [find_checkpoint(*place) for place in places] == [1, 2, 3]
    delete_checkpoint("load_graph", "file-a")
    assert [find_checkpoint(*place) for place in places] == [None, 2, 3]


def test_job_that_never_ran_has_none(world):
    assert find_checkpoint("load_graph", "file-a") is None
    delete_checkpoint("load_graph", "file-a")
