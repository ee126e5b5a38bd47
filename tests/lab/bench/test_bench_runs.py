"""`python -m lab.bench` measures reads and the mix on real servers: seconds on a few accounts."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.bench.mix.shares import PER_THOUSAND, READS
from lab.runner.child import CHECKOUT

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
