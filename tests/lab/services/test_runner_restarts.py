"""When a process that died is started again. Time is a number the test gives."""

import pytest

from lab.runner.restarts import Restarter
from lab.services import ServiceError


class Process:
    name = "web"

    def __init__(self):
        self.is_running = True
        self.starts = 0

    def begin(self):
        self.starts += 1
        self.is_running = True


@pytest.fixture
def process():
    return Process()


@pytest.fixture
def lines():
    return []


@pytest.fixture
def restarter(process, lines):
    return Restarter(process, first_wait_s=1, report=lines.append, began_at=0)


def die(restarter: Restarter, now: float) -> float:
    """Dies at `now`; how long it took until it was started again."""
    restarter.process.is_running = False
    starts = restarter.process.starts
    later = now
    while restarter.process.starts == starts:
        restarter.check(later)
        later += 0.5
    return later - 0.5 - now


def test_living_process_is_left_alone(restarter, process, lines):
    restarter.check(1)
    assert process.starts == 0
    assert lines == []


def test_death_is_told_once_and_mended_in_time(restarter, lines):
    assert die(restarter, 10) == 1
    assert lines == ["  web died; starting it again in 1 s"]


def test_each_death_soon_after_a_start_doubles_the_wait_up_to_half_a_minute(restarter):
    waits = []
    now = 10.0
    for _ in range(7):
        waits.append(die(restarter, now))
        now += waits[-1] + 1
    assert waits == [1, 2, 4, 8, 16, 30, 30]


def test_long_life_resets_the_wait(restarter):
    die(restarter, 10)
    die(restarter, 12)
    assert die(restarter, 200) == 1


def test_failing_start_is_told_and_tried_again(restarter, process, lines):
    def refuse():
        process.starts += 1
        raise ServiceError("the folder is in use")

    process.begin = refuse
    die(restarter, 10)
    die(restarter, 12)
    assert "  the folder is in use" in lines
    assert process.starts == 2
