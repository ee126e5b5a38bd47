"""The pace: rows a second, without bursts.

The runner of periodic tasks: each runs in time, and one that fails delays no other.

What a person or a log sees of a job.

What tells runs apart, as text that PostgreSQL takes.
"""

import os
from io import StringIO
from pathlib import Path

import pytest

from infra.jobs import progress
from infra.jobs.drive_job import Pace
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.periodic import PeriodicRunner, PeriodicTask
from infra.jobs.progress import Progress, duration
from infra.jobs.runs import describe_options, list_lock_parts, make_storable
from infra.jobs.types import Work
from infra.sharding.placement import Placement
from tests.clocks import Clock


class PacedClock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


def test_waits_what_is_left_of_the_batch_s_time():
    clock = PacedClock()
    pace = Pace(50, clock)
    clock.now_s += 0.5
    assert pace.wait_s(100) == 1.5
    clock.now_s += 1.5
    pace.start_batch()
    assert pace.wait_s(25) == 0.5


def test_slow_batch_saves_nothing_up():
    clock = PacedClock()
    pace = Pace(50, clock)
    clock.now_s += 60
    assert pace.wait_s(100) == 0
    pace.start_batch()
    assert pace.wait_s(100) == 2


def test_without_a_rate_nobody_waits():
    assert Pace(None).wait_s(10**9) == 0


ALIASES = ["default", "shard0", "shard1"]


class Log:
    """Tasks that record their runs as (name, database)."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str]] = []

    def task(self, name: str, period_s: float, placement: Placement = Placement.SHARDED):
        return PeriodicTask(name, period_s, placement, "", "", lambda alias: self._run(name, alias))

    def _run(self, name: str, alias: str) -> None:
        self.runs.append((name, alias))
        if name == "broken":
            raise ZeroDivisionError


@pytest.fixture
def log():
    return Log()


def test_tasks_run_at_once_and_again_after_their_period(log):
    clock = Clock()
    runner = PeriodicRunner([log.task("often", 10), log.task("seldom", 60)], clock_s=clock)
    for _ in range(60):
        runner.run_due(ALIASES)
        clock.now += 2
    times = {"often": 12, "seldom": 2}
    assert {run: log.runs.count(run) for run in log.runs} == {
        (name, alias): times[name] for name in times for alias in ("shard0", "shard1")
    }


@pytest.mark.parametrize(
    ("placement", "aliases"),
    [
        (Placement.SHARDED, ALIASES[1:]),
        (Placement.GLOBAL, ALIASES[:1]),
        (Placement.EVERYWHERE, ALIASES),
    ],
)
def test_task_runs_on_the_databases_of_its_placement(log, placement, aliases):
    PeriodicRunner([log.task("task", 1, placement)]).run_due(ALIASES)
    assert log.runs == [("task", alias) for alias in aliases]


def test_task_that_fails_delays_neither_the_other_databases_nor_the_next_task(log):
    runner = PeriodicRunner([log.task("broken", 1), log.task("next", 1)])
    runner.run_due(ALIASES)
    assert log.runs == [
        (name, alias) for name in ("broken", "next") for alias in ("shard0", "shard1")
    ]


@pytest.fixture
def every_time(monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0)
    monkeypatch.setattr(progress, "TERMINAL_EVERY_S", 0)


def test_plain_output_is_lines_without_control_characters(every_time):
    out = StringIO()
    shown = Progress(out, "load_graph", total=4_000)
    shown.advance(1_000, "shard0")
    shown.finish("done")
    first, last = out.getvalue().splitlines()
    assert first.startswith("load_graph: 1,000 of 4,000 (")
    assert first.endswith("s left) shard0")
    assert last.endswith(" done")
    assert out.getvalue().isprintable() is False  # line ends only
    assert "\r" not in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_terminal_line_is_rewritten_in_place(every_time):
    reader, writer = os.openpty()
    with open(reader, "rb", buffering=0) as seen, open(writer, "w") as terminal:
        shown = Progress(terminal, "load_graph")
        shown.advance(7)
        shown.advance(5)
        shown.finish("done")
        text = ""
        while not text.endswith("\n"):  # a terminal hands out as much as it likes
            text += seen.read(4_096).decode()
    assert text.count("\r\x1b[Kload_graph: ") == 3
    assert text.count("\n") == 1
    assert text.endswith(" done\r\n")
    assert "load_graph: 12 (" in text


def test_job_with_nothing_to_do_says_nothing_until_its_end(every_time):
    out = StringIO()
    shown = Progress(out, "compensate_changes")
    for _ in range(3):
        shown.advance(0, "shard0")
    assert out.getvalue() == ""


def test_steps_in_quick_succession_are_one_line():
    out = StringIO()
    shown = Progress(out, "load_graph")
    for _ in range(100):
        shown.advance(1)
    assert out.getvalue() == ""
    shown.finish("done")
    assert out.getvalue().startswith("load_graph: 100 (")


def test_total_of_zero_divides_nothing():
    out = StringIO()
    Progress(out, "load_graph", total=0).finish("done")
    assert out.getvalue().startswith("load_graph: 0 (0/s)")


def shown_on_a_terminal(columns, monkeypatch, **options):
    monkeypatch.setenv("COLUMNS", str(columns))
    out = StringIO()
    out.isatty = lambda: True
    shown = Progress(out, "rebuild", **options)
    shown.advance(10, "shard0")
    return out.getvalue()


def test_bar_counts_what_earlier_runs_did(every_time, monkeypatch):
    line = shown_on_a_terminal(200, monkeypatch, total=40, before=10)
    assert "rebuild: [##########----------]  50% 20 of 40 (" in line
    assert line.endswith(" left) shard0")


def test_bar_is_full_when_there_was_more_than_thought(every_time, monkeypatch):
    line = shown_on_a_terminal(200, monkeypatch, total=5)
    assert "[####################] 100% 10 of 5 (" in line
    assert ", 0 s left)" in line


def test_line_fits_the_terminal(every_time, monkeypatch):
    line = shown_on_a_terminal(30, monkeypatch, total=40)
    assert len(line.removeprefix("\r\x1b[K")) == 29


def test_speed_is_of_this_run_alone(every_time, monkeypatch):
    now = [50.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    out = StringIO()
    shown = Progress(out, "rebuild", total=1_000, before=500)
    now[0] += 10
    shown.advance(100)
    assert out.getvalue() == "rebuild: 600 of 1,000 (10/s, 40 s left)\n"


def test_room_is_made_on_a_terminal_only(every_time):
    out = StringIO()
    Progress(out, "rebuild").make_room()
    assert out.getvalue() == ""
    out.isatty = lambda: True
    Progress(out, "rebuild").make_room()
    assert out.getvalue() == "\r\x1b[K"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (119, "119 s"), (150, "2 min"), (7_000, "117 min"), (11_100, "3 h 05 min")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_only_what_was_given_is_told_in_one_order():
    defaults = {"shard": None, "kind": None, "repair": False, "file": None, "rate": None}
    options = defaults | {"repair": True, "kind": "posts.created", "rate": 5, "file": Path("a/b")}
    told_ = describe_options(options, defaults, ["shard", "repair", "kind", "file"])
    assert told_ == "file=a/b kind=posts.created repair=yes"
    assert describe_options(defaults, defaults, defaults) == ""


@pytest.mark.parametrize(
    ("text", "kept"), [("plain ö", "plain ö"), ("a\0b", "a\\0b"), ("\udc80", "\\udc80")]
)
def test_storable(text, kept):
    assert make_storable(text) == kept


def test_parts():
    shards = ["shard0", "shard1"]
    assert list_lock_parts(Work(shards), WALK) == shards
    assert list_lock_parts(Work(["shard1"]), {JobFlag.SHARD}) == ["shard1"]
    assert list_lock_parts(Work(["shard1"], account_id=5), WALK) == ["account 5"]
    assert list_lock_parts(Work(shards), {JobFlag.DRY_RUN}) == [""]
