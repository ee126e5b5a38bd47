"""Steps of a pull: together they are the span, each moment in one of them, the near ones short."""

from hypothesis import given
from hypothesis import strategies as st

from posts.ids import SEQUENCES
from timelines.recent.pull_steps import ENDS_S, steps_down, steps_up

moments = st.integers(0, 10_000_000 * SEQUENCES)
HOUR = 3_600 * SEQUENCES


@given(st.tuples(moments, moments).map(sorted), moments)
def test_downwards_they_are_the_span_newest_first(bounds, now):
    lower, upper = bounds
    steps = steps_down(lower, upper, now)
    assert (steps[-1][0], steps[0][1]) == (lower, upper)
    assert [low for low, _ in steps[:-1]] == [high for _, high in steps[1:]]
    assert all(low < high for low, high in steps) or lower == upper


@given(st.tuples(moments, moments).map(sorted))
def test_upwards_they_are_the_span_oldest_first(bounds):
    lower, upper = bounds
    steps = steps_up(lower, upper)
    assert (steps[0][0], steps[-1][1]) == (lower, upper)
    assert [high for _, high in steps[:-1]] == [low for low, _ in steps[1:]]
    assert all(low < high for low, high in steps) or lower == upper


def test_the_first_is_an_hour_from_now_when_the_span_has_no_end():
    week = 7 * 24 * HOUR
    steps = steps_down(0, 10**15, now=week)
    assert [week - low for low, _ in steps[:-1]] == [end * SEQUENCES for end in ENDS_S]
    assert steps[0] == (week - HOUR, 10**15)


def test_the_first_is_an_hour_from_the_cursor_when_that_is_older():
    assert steps_down(0, 50 * HOUR, now=90 * HOUR)[0] == (49 * HOUR, 50 * HOUR)
    assert steps_up(50 * HOUR, 10**15)[0] == (50 * HOUR, 51 * HOUR)
