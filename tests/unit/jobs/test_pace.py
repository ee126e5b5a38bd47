"""The pace: rows a second, without bursts."""

from infra.jobs.drive_job import Pace


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


def test_waits_what_is_left_of_the_batch_s_time():
    clock = Clock()
    pace = Pace(50, clock)
    clock.now_s += 0.5
    assert pace.wait_s(100) == 1.5
    clock.now_s += 1.5
    pace.start_batch()
    assert pace.wait_s(25) == 0.5


def test_slow_batch_saves_nothing_up():
    clock = Clock()
    pace = Pace(50, clock)
    clock.now_s += 60
    assert pace.wait_s(100) == 0
    pace.start_batch()
    assert pace.wait_s(100) == 2


def test_without_a_rate_nobody_waits():
    assert Pace(None).wait_s(10**9) == 0
