"""What a load needs, and which limit it reaches first.

Plans of moves: each step brings both shards nearer to the mean, and no filter is long.
"""

import json
from argparse import ArgumentTypeError
from itertools import pairwise
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from infra.sharding.buckets import BUCKET_COUNT
from operations.capacity.plan import Machines, SiteLoad, compute_plan
from operations.capacity.plan_lines import format_amount, parse_amount, parse_share
from operations.capacity.walls import list_walls
from operations.moves.balance import TOLERANCE, ShardLoad, plan_moves, weigh

SMALL = SiteLoad(
    accounts=1e6,
    active_share=0.5,
    followees=100,
    posts_per_account=100,
    reads=100,
    first_share=0.5,
    away_share=0.0,
    posts=10,
    favourites=10,
    follows=3,
)
MACHINES = Machines(
    shard_tb=1.0,
    shard_cores=16,
    redis_gb=32,
    busy_share=0.5,
    web_threads=4,
    scatter_threads=8,
    connections=300,
)


@pytest.mark.parametrize(
    ("text", "amount"), [("0", 0), ("250", 250), ("2.5k", 2_500), ("100M", 1e8), ("1T", 1e12)]
)
def test_amounts_are_read_and_written_alike(text: str, amount: float) -> None:
    assert parse_amount(text) == amount
    assert format_amount(amount) == text


@pytest.mark.parametrize("text", ["", "k", "-1", "1e20", "nan", "inf", "10K", "1,000", "ten"])
def test_text_that_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        parse_amount(text)


def test_share_above_all_is_refused() -> None:
    with pytest.raises(ArgumentTypeError):
        parse_share("1.1")


@pytest.mark.parametrize(
    ("amount", "text"), [(999.4, "999"), (999.6, "1k"), (999_600, "1M"), (0.0368, "0.0368")]
)
def test_amount_is_rounded_to_the_next_unit(amount: float, text: str) -> None:
    assert format_amount(amount) == text


def test_small_site_needs_a_single_shard() -> None:
    plan = compute_plan(SMALL, MACHINES)
    assert (plan.shards, plan.redis_nodes, plan.web_processes) == (1, 1, 1)


def test_follows_and_posts_take_their_bytes() -> None:
    """100 M accounts with 500 followees: 20.6 TB of edges; 100 posts each: 7 TB."""
    plan = compute_plan(
        SMALL._replace(accounts=1e8, followees=500, posts=0, favourites=0, follows=0), MACHINES
    )
    assert plan.disk_tb == pytest.approx(20.6 + 7.0)
    assert plan.shards == 28


def test_shards_follow_the_cpu_of_writes() -> None:
    few = compute_plan(SMALL, MACHINES)
    many = compute_plan(SMALL._replace(follows=40_000), MACHINES)
    assert many.shards >= few.shards + 10
    assert many.cpu.postgres / many.shards <= MACHINES.shard_cores * MACHINES.busy_share


def test_index_costs_each_shard_the_same() -> None:
    plans = [compute_plan(SMALL, MACHINES, shards) for shards in (2, 20)]
    assert plans[0].index_tb_per_shard == plans[1].index_tb_per_shard
    assert plans[1].cpu.postgres > plans[0].cpu.postgres
    assert plans[1].wal_mb_per_shard < plans[0].wal_mb_per_shard


def test_index_by_author_divides(settings: Any) -> None:
    load = SMALL._replace(accounts=1e8, followees=500, posts=10_000)
    replicated = compute_plan(load, MACHINES)
    settings.RECENT_INDEX = "by_author"
    by_author = compute_plan(load, MACHINES)
    assert by_author.shards < replicated.shards / 3
    assert by_author.index_tb_per_shard < replicated.index_tb_per_shard / 20
    assert by_author.cpu.postgres < replicated.cpu.postgres


def test_first_reads_cost_more_than_others() -> None:
    again, first = (
        compute_plan(SMALL._replace(reads=10_000, first_share=share), MACHINES) for share in (0, 1)
    )
    assert first.web_processes > 3 * again.web_processes


def test_nearest_limit_comes_first() -> None:
    load = SMALL._replace(reads=100_000)
    walls = list_walls(load, compute_plan(load, MACHINES), MACHINES)
    shares = [wall.used_share for wall in walls]
    assert walls[0].name == "connections of one shard"
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 1


def test_too_few_shards_are_the_first_limit() -> None:
    load = SMALL._replace(accounts=1e8, followees=500)
    walls = list_walls(load, compute_plan(load, MACHINES, 4), MACHINES)
    assert walls[0].name == "size of one shard, TB"
    assert walls[0].used > 1


def test_command_prints_the_first_limit_and_the_cost(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("plan_capacity", "--accounts", "100M", "--reads", "100k", "--posts", "10k")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("shards ")
    assert any(" a month, " in line for line in lines)
    assert lines[-1] == (
        "connections of one shard is passed: a pool in front of each PostgreSQL server"
    )


def test_memory_follows_the_data() -> None:
    """The servers of a small site are small."""
    few, many = (
        compute_plan(SMALL._replace(accounts=accounts), MACHINES) for accounts in (1e4, 1e7)
    )
    assert few.memory_gb(MACHINES) < 8
    assert many.memory_gb(MACHINES) > 100


def read_plan(capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    call_command("plan_capacity", "--json", *flags)
    plan: dict[str, Any] = json.loads(capsys.readouterr().out)
    return plan


def test_rates_follow_the_accounts_unless_they_are_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    few, many = (read_plan(capsys, "--accounts", number) for number in ("20k", "100M"))
    assert sum(many["cpu"].values()) > 1_000 * sum(few["cpu"].values())
    given = read_plan(capsys, "--accounts", "20k", "--reads", "100k")
    assert given["cpu"]["web"] > 1_000 * few["cpu"]["web"]
    assert given["cpu"]["worker"] == few["cpu"]["worker"]


def test_pools_bound_the_connections_of_web_servers() -> None:
    plans = [
        compute_plan(SMALL, MACHINES._replace(pool_size=size), 16, web_processes=64)
        for size in (0, 100)
    ]
    assert [plan.web_connections for plan in plans] == [64 * (4 + 2 + 8), 100]
    assert plans[0].direct_connections == plans[1].direct_connections
    assert plans[1].connections_per_shard <= 300
    few = compute_plan(SMALL, MACHINES._replace(pool_size=100), 16, web_processes=2)
    assert few.web_connections == 28


def test_workers_hold_connections_of_the_drains_of_all_databases() -> None:
    """Three threads a database, and one of the compensator: a connection to each other one."""
    few, many = (compute_plan(SMALL, MACHINES, shards) for shards in (1, 16))
    assert many.direct_connections - few.direct_connections == 15 * (3 + 1)


def test_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("plan_capacity", "--json", "--shards", "3")
    plan = json.loads(capsys.readouterr().out)
    assert plan["shards"] == 3
    assert set(plan["cpu"]) == {"web", "worker", "postgres", "redis"}
    assert {"name", "used", "limit", "remedy"} == set(plan["walls"][0])


@pytest.mark.parametrize(
    "flags",
    [
        ["--accounts", "0"],
        ["--reads", "many"],
        ["--shards", "0"],
        ["--threads", "0"],
        ["--web-processes", "0"],
        ["--pool-size", "-1"],
        ["--busy-share", "0"],
        ["--first-share", "0.1", "--away-share", "0.2"],
    ],
)
def test_command_refuses_what_makes_no_sense(flags: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("plan_capacity", *flags)


def dealt(rows, writes=None, empty=0):
    """Shards with the buckets of a new installation, and some without any."""
    full = [
        ShardLoad(f"shard{n}", range(n, BUCKET_COUNT, len(rows)), count, (writes or rows)[n])
        for n, count in enumerate(rows)
    ]
    return [*full, *(ShardLoad(f"shard{len(rows) + n}", [], 0, 0.0) for n in range(empty))]


def weights_after(loads):
    """The weight of each shard after each move of the plan."""
    weights = weigh(loads)
    yield weights
    for move in plan_moves(loads):
        change = {move.source: -move.part, move.target: move.part}
        weights = {alias: weight + change.get(alias, 0.0) for alias, weight in weights.items()}
        yield weights


def test_equal_shards_stay_as_they_are():
    assert plan_moves(dealt([100, 105, 95, 100])) == []
    assert plan_moves(dealt([0, 0, 0, 0])) == []


def test_every_shard_gives_a_new_one_its_part():
    moves = plan_moves(dealt([100] * 4, empty=1))
    assert [(move.source, move.target) for move in moves] == [
        (f"shard{n}", "shard4") for n in (3, 2, 1, 0)
    ]
    moved = sum(move.buckets.size for move in moves)
    assert moved == pytest.approx(BUCKET_COUNT / 5, rel=TOLERANCE)


def test_writes_count_like_rows():
    (move,) = plan_moves(dealt([100, 100], [300.0, 100.0]))
    assert (move.source, move.target) == ("shard0", "shard1")
    assert move.part == pytest.approx(1 / 8, abs=0.02)


def test_a_site_without_rows_is_divided_by_buckets():
    (move,) = plan_moves(
        [ShardLoad("shard0", range(BUCKET_COUNT), 0, 0), ShardLoad("shard1", [], 0, 0)]
    )
    assert move.buckets.size == BUCKET_COUNT / 2


@given(
    st.lists(st.integers(0, 10**6), min_size=2, max_size=4).filter(lambda rows: len(rows) != 3),
    st.integers(0, 3),
)
def test_each_step_improves(rows, empty):
    loads = dealt(rows, empty=empty)
    mean = 1 / len(loads)
    distances = [sum(abs(w - mean) for w in each.values()) for each in weights_after(loads)]
    assert all(later < earlier for earlier, later in pairwise(distances))
    owned = {load.alias: {*load.buckets} for load in loads}
    for move in plan_moves(loads):
        taken = {*move.buckets.buckets()}
        assert taken <= owned[move.source]
        owned[move.source] -= taken
        owned[move.target] |= taken
        assert len(move.buckets.values) <= 512
