"""`python -m lab.bench` measures reads and the mix on real servers: seconds on a few accounts.

The servers of a benchmark end with it, also if it is killed.

Figures of the benchmark: ratios to the bare view, and the table and plot of several sizes.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lab.bench.mix.shares import PER_THOUSAND, READS
from lab.bench.reads import ReadSlice, read_figures
from lab.bench.scaling import FIGURES, latest_cells, scaling_chart, scaling_table
from lab.bench.summary import GOALS, READ_COLUMNS, history_table, mix_table, reads_table
from lab.faults.charts import draw_charts
from lab.runner.child import CHECKOUT
from lab.runner.port import is_answering
from tests.services import are_gone
from tests.waiting import until

OPTIONS = ["--accounts", "60", "--seconds", "1", "--shards", "1"]


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Any:
    history: Path = tmp_path_factory.mktemp("bench") / "history.jsonl"
    names = [
        "--only",
        "reads",
        "--only",
        "first_reads",
        "--only",
        "cluster",
        "--only",
        "mix",
        "--only",
        "calls",
        *OPTIONS,
        "--history",
        str(history),
    ]
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "-m", "lab.bench", *names]
    ran = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(history.read_text())


def test_each_read_is_compared_with_a_bare_view(line: Any):
    rows = {*READS, "one_reader", "home_with_20_writes_per_s"}
    assert rows <= {*line["reads"]}
    for name in rows:
        assert 0 < line["reads"][name]["rate_of_bare"] < 3
        assert line["reads"][name]["cpu_us"] > 0
    assert 0 < line["reads"]["home_with_20_writes_per_s"]["rate_of_busy_bare"] < 3


def test_first_reads_are_compared_with_a_bare_view(line: Any):
    rows = line["first_reads"]
    assert {"home", "author_page", "html_home", "home_away", "home_flushed"} < {*rows}
    for row in rows.values():
        assert row["cpu_of_bare"] > 0
        assert row["redis_commands"] > 0
        assert row["bytes"] > 100


def test_pages_on_a_cluster_are_compared_with_those_on_one_server(line: Any):
    for row in ("home_first", "home_again"):
        assert min(line["cluster"][row].values()) > 0


def test_the_mix_has_latencies_of_every_kind(line: Any):
    mix = line["mix"]
    assert {"reads", *PER_THOUSAND} == {*mix["latency_ms"]}
    assert mix["capacity"]["per_s"] > mix["steady"]["per_s"] > 0
    assert mix["steady"]["refused"] == 0
    assert mix["bare_ms"]["p50"] > 0
    assert min(mix["per_request"].values()) > 0
    assert mix["world"]["shards"] == 1


def test_the_calls_of_a_repeated_read_are_counted(line: Any):
    assert {*READS} < {*line["calls"]}
    assert line["calls"]["home"]["first_sql"] > line["calls"]["home"]["again_sql"] == 0
    assert line["calls"]["home"]["again_redis"] == pytest.approx(1, abs=0.5)


# Prints port and process id when the server answers, and then waits to be killed.
BENCHMARK = """
import signal
from lab.bench.server import bare_server

with bare_server({"page": b"some bytes"}) as server:
    print(server.address[1], server.pid, flush=True)
    signal.pause()
"""


def test_a_killed_benchmark_leaves_no_bare_server() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BENCHMARK], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as benchmark:
        assert benchmark.stdout is not None
        port, pid = map(int, benchmark.stdout.readline().split())
        assert is_answering(port, "/bare?page")
        benchmark.send_signal(signal.SIGKILL)
    until(lambda: are_gone([pid]))
    assert not is_answering(port, "/bare?page")


NAME = "{http://www.w3.org/2000/svg}"


def run_of(accounts: int, shards: int, per_s: int) -> dict:
    return {
        "mix": {
            "world": {"accounts": accounts, "shards": shards},
            "capacity": {"per_s": per_s},
            "bare_ms": {"p99": 4.1},
            "cpu_us": {"all": 500, "web": 300},
            "per_request": {"redis_us": 12.5, "redis_commands": 3.5, "transactions": 0.25},
            "latency_ms": {"home": {"p99": 4.2}, "author_page": {"p99": 5.5}},
            "web_worker_mb": {"last": 150.0},
        }
    }


HISTORY = [
    run_of(1_000, 4, 1),
    {"home": {}},
    run_of(30_000, 1, 2_000),
    run_of(1_000, 4, 3_000),
    run_of(1_000, 1, 2_500),
]


def test_ratios_are_those_of_neighbours_and_more_is_better():
    pairs = [
        (ReadSlice(per_s, 200.0, 10.0, 3.0, [0.001]), ReadSlice(bare, 100.0, 0.0, 0.0, [0.0005]))
        for per_s, bare in ((500, 1_000), (400, 500), (90, 100))
    ]
    figures = read_figures(pairs)
    assert figures["rate_of_bare"] == 0.8
    assert figures["cpu_of_bare"] == 0.5
    assert (figures["per_s"], figures["cpu_us"], figures["bare_cpu_us"]) == (400, 200, 100)
    assert (figures["redis_us"], figures["redis_commands"], figures["p99"]) == (10, 3, 1)


def test_cells_are_the_latest_runs_in_order():
    cells = latest_cells(HISTORY)
    assert {accounts: [*runs] for accounts, runs in cells.items()} == {1_000: [1, 4], 30_000: [1]}
    assert cells[1_000][4]["capacity"]["per_s"] == 3_000


def test_table_has_a_row_for_each_cell():
    head, rule, *rows = scaling_table(latest_cells(HISTORY))
    assert head.startswith("| accounts | shards | capacity")
    assert rule.count("---") == 2 + len(FIGURES)
    assert [row.split(" | ")[:3] for row in rows] == [
        ["| 1,000", "1", "2,500"],
        ["| 1,000", "4", "3,000"],
        ["| 30,000", "1", "2,000"],
    ]


def test_plot_has_a_line_for_each_size_over_the_shards():
    chart = scaling_chart(FIGURES[0], latest_cells(HISTORY))
    assert chart.lines["1,000 accounts"] == [[(0, 2_500), (1, 3_000)]]
    assert chart.labels == [(0, "shards: 1"), (1, "shards: 4")]
    root = ElementTree.fromstring(draw_charts([chart]))
    lines, dots = root.findall(f"{NAME}polyline"), root.findall(f"{NAME}circle")
    assert (len(lines), len(dots)) == (1, 1), "a size with one run is a dot"


def test_small_values_of_a_chart_have_digits():
    chart = scaling_chart(FIGURES[6], latest_cells(HISTORY))
    root = ElementTree.fromstring(draw_charts([chart]))
    assert {"4.2", "2.1", "0.0"} <= {one.text for one in root.findall(f"{NAME}text")}


def reads_of(rate: float) -> dict:
    row = dict.fromkeys(READ_COLUMNS, 1) | {"rate_of_bare": rate}
    return {"readers": {"count": 9}, "one_reader": row, "list": row}


def test_summary_has_the_figures_of_a_run_and_the_goals():
    _, _, *rows = reads_table(reads_of(0.7))
    assert [row.split(" | ")[:3] for row in rows] == [
        ["| one_reader", "0.8", "0.7"],
        ["| list", "", "0.7"],
    ]


def test_summary_of_the_mix_has_all_latencies():
    latencies = {"reads": {"p50": 1.5, "p99": 4.5, "p99.9": 9.5}}
    bare = {"p50": 0.5, "p99": 1.5, "p99.9": 2.5}
    head, _, *rows = mix_table({"steady": {"per_s": 590}, "latency_ms": latencies, "bare_ms": bare})
    assert head.startswith("| mix, 590 a second |")
    assert rows == ["| reads | 1.5 | 4.5 | 9.5 |", "| bare view | 0.5 | 1.5 | 2.5 |"]


def test_history_has_a_row_for_each_commit():
    rates = {"abc": [0.7, 0.9], "def": [0.8]}
    lines = [
        {
            "at": "2026-11-26T06:43Z",
            "commit": commit,
            "reads": dict.fromkeys(GOALS, reads_of(rate)["list"]),
        }
        for commit, runs in rates.items()
        for rate in runs
    ]
    _, _, *rows = history_table(lines)
    assert [row.split(" | ")[:3] for row in rows] == [
        ["| 2026-11-26", "abc", "0.7-0.9"],
        ["| 2026-11-26", "def", "0.8"],
    ]
