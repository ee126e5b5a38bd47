"""Requests a second, wall times and failures, out of two samples of what was answered."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.core import CounterMetricFamily

from operations.queries.traffic import FRESH_S, Traffic, estimate, measure
from operations.request_totals import RESPONSES, RequestTotals, read_totals
from operations.samples import SLOT_S, FleetSample, slot_of

NOW_S = 1_800_000_000.0
BOUNDS = (0.01, 0.1, 1.0, inf)


def sample(
    ago_s: float, answers: int, failures: int = 0, machine: str = "a"
) -> tuple[int, FleetSample]:
    """All its answers took 10 to 100 ms."""
    at_s = NOW_S - ago_s
    by_time = {"0.01": 0, "0.1": answers, "1.0": answers, "+Inf": answers}
    requests = RequestTotals(machine, at_s, answers, failures, by_time)
    return slot_of(at_s), FleetSample(0, 0, {}, requests)


def test_the_difference_of_two_samples_is_shown() -> None:
    fleet = dict([sample(200, 1_000, 5), sample(100, 1_500, 6), sample(0, 2_000, 30)])
    traffic = measure(fleet, NOW_S)
    assert traffic == Traffic("a", 5.0, pytest.approx(0.055), pytest.approx(0.0991), 0.025)


def test_nothing_is_said_without_two_fresh_samples_of_one_machine() -> None:
    old = FRESH_S + SLOT_S
    for samples in (
        [],
        [sample(0, 10)],
        [sample(100, 10), sample(old, 20)],
        [sample(20, 10, machine="b"), sample(0, 20)],
        [sample(20, 30), sample(0, 20)],
        [(slot_of(NOW_S), FleetSample(0, 0, {}))],
    ):
        assert measure(dict(samples), NOW_S) is None, samples


def test_samples_of_another_machine_are_left_out() -> None:
    fleet = dict([sample(100, 10), sample(50, 9_000, machine="b"), sample(0, 110)])
    traffic = measure(fleet, NOW_S)
    assert traffic is not None
    assert (traffic.machine, traffic.per_s) == ("a", 1.0)


def test_no_requests_are_no_times_and_no_ratio() -> None:
    traffic = measure(dict([sample(100, 10), sample(0, 10)]), NOW_S)
    assert traffic == Traffic("a", 0.0, None, None, None)


def test_what_took_longer_than_the_highest_bound_has_no_end() -> None:
    assert estimate([(0.1, 98), (inf, 100)], 0.99) == inf


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.floats(0.01, 1))
def test_the_estimate_is_in_the_bucket_of_the_request(counts: list[int], share: float) -> None:
    """The request of rank `share`, among the requests in the order of their times."""
    ups = [sum(counts[: n + 1]) for n in range(4)]
    found = estimate([*zip(BOUNDS, ups, strict=True)], share)
    if not ups[-1]:
        assert found is None
        return
    place = next(n for n, up in enumerate(ups) if up >= share * ups[-1])
    assert found is not None
    assert (0, *BOUNDS)[place] <= found <= BOUNDS[place]


def test_what_machines_ask_is_left_out() -> None:
    family = CounterMetricFamily(RESPONSES, "Responses", labels=["route", "status"])
    family.add_metric(["health/ready", "503"], 40)
    family.add_metric(["metrics", "200"], 9)
    family.add_metric(["api/v1/timelines/home", "200"], 7)
    family.add_metric(["api/v1/statuses", "503"], 2)
    totals = read_totals([family], NOW_S)
    assert (totals.answers, totals.failures) == (9, 2)
