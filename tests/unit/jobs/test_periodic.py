"""The runner of periodic tasks: each runs in time, and one that fails delays no other."""

import pytest

from infra.jobs.periodic import PeriodicRunner, PeriodicTask
from infra.sharding.placement import Placement
from tests.clocks import Clock

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
