"""Figures of a load: percentiles, errors and the time until the last error."""

from lab.faults.load.figures import Timing, between, figures, recovery_s


def timing(began_s: float, took_s: float, status: int = 200, alias: str = "shard0") -> Timing:
    return Timing(1, alias, "home", began_s, began_s, began_s + took_s, status)


def test_figures_count_errors_and_take_percentiles():
    found = figures([timing(n, 0.001 * n) for n in range(1, 100)] + [timing(1, 5, 503)])
    assert found.calls == 100
    assert found.errors == {503: 1}
    assert round(found.p50_ms) == 51
    assert round(found.p99_ms) == 5000
    assert found.longest_s == 5


def test_figures_of_nothing_are_zero():
    assert figures([]).text() == "0 calls, no error, p50 0 ms, p99 0 ms, longest 0.0 s"


def test_refused_call_is_no_error():
    assert not timing(1, 1, 403).is_error
    assert timing(1, 1, 0).is_error


def test_calls_are_chosen_by_their_begin_and_shard():
    timings = [timing(1, 9), timing(2, 1, alias="shard1"), timing(3, 1)]
    assert between(timings, 1, 3, {"shard0"}) == [timings[0]]


def test_recovery_ends_with_the_last_error_that_began_after_the_heal():
    timings = [timing(1, 100, 503), timing(11, 1, 503), timing(14, 2, 503), timing(20, 1)]
    assert recovery_s(timings, 10) == 6
    assert recovery_s(timings[3:], 10) == 0
