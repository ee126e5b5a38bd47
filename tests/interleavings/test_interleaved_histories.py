"""Histories under drawn schedules: rows, caches and pages agree afterwards."""

import os

import pytest

from tests.interleavings.exploring import Explorer, History, Schedule
from tests.interleavings.histories import ALL, KNOWN
from tests.interleavings.scheduler import Threads

# `make test-random` draws new schedules; in `make test` they are always the same.
pytestmark = pytest.mark.hypothesis
EXAMPLES = int(os.environ.get("EXAMPLES", "3"))


@pytest.mark.parametrize("history", ALL, ids=lambda history: history.__name__)
def test_holds_under_all_drawn_schedules(threads: Threads, history: History) -> None:
    failure = Explorer(history, threads, EXAMPLES).find_failure()
    assert failure is None, f"\n{failure}"


@pytest.mark.parametrize(
    ("history", "schedule"), KNOWN, ids=lambda one: getattr(one, "__name__", "")
)
def test_holds_under_a_schedule_that_broke_it(
    threads: Threads, history: History, schedule: Schedule
) -> None:
    explorer = Explorer(history, threads, 1)
    explorer.run(())  # the first run in a process has steps of its own
    failure = explorer.run(schedule)
    assert failure is None, f"\n{failure}"
