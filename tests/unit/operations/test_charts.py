"""From samples to lines.

Periods of the charts without samples, in words: a gap is not a zero.

Requests a second, wall times and failures, out of two samples of what was answered.
"""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.core import CounterMetricFamily

from operations.queries.charts import MEBI, describe, draw, find_common
from operations.queries.traffic import FRESH_S, Traffic, estimate, measure
from operations.samples import (
    RESPONSES,
    SLOT_COUNT,
    SLOT_S,
    DatabaseSample,
    FleetSample,
    RequestTotals,
    read_totals,
    slot_of,
)

LAST = 1_000_000


def sample(oldest_s=None, parked=0, delivered=0, slow=0, at_s=0.0):
    lags = {0: 0.0} if oldest_s is None else oldest_s
    return DatabaseSample(lags, parked, delivered, slow, at_s)


def lines_of(name, databases=None, fleet=None):
    (chart,) = [one for one in draw(LAST, databases or {}, fleet or {}).charts if one.name == name]
    return chart.lines


def ends_of(line):
    """The last values, and that all before are unknown."""
    assert all(value is None for value in line[:-4])
    return line[-4:]


def test_without_samples_there_is_an_hour_without_lines():
    charts = draw(LAST, {"default": {}, "shard0": {}}, {})
    assert len(charts.times) == SLOT_COUNT
    assert charts.times[-1] == LAST * SLOT_S
    assert charts.times[1] - charts.times[0] == SLOT_S
    assert [chart.lines for chart in charts.charts] == [{}] * 6


def test_lag_by_database_and_lane():
    databases = {
        "shard0": {LAST - 1: sample({0: 2.5, 64: 0.0}), LAST: sample({0: 0.0})},
        "shard1": {LAST: sample({0: 0.0})},
    }
    lines = lines_of("lag", databases)
    assert ends_of(lines["shard0 lane 0"]) == [None, None, 2.5, 0.0]
    # Lanes where nothing ever waited are one line, with a gap where one of them is not known.
    assert ends_of(lines["2 others"]) == [None, None, None, 0.0]
    assert len(lines) == 2


def test_all_is_well_in_one_line():
    lines = lines_of("parked", {alias: {LAST: sample()} for alias in ("default", "shard0")})
    assert list(lines) == ["all 2"]
    assert ends_of(lines["all 2"]) == [None, None, None, 0.0]


def test_a_database_without_a_report_has_gaps_not_zeros():
    databases = {
        "shard0": {LAST - 1: sample(parked=3), LAST: DatabaseSample(None, None, 0, 0, 0.0)}
    }
    assert ends_of(lines_of("parked", databases)["shard0"]) == [None, None, 3, None]
    assert ends_of(lines_of("lag", databases)["all"]) == [None, None, 0.0, None]


def test_a_database_that_is_silent_for_a_while_is_not_a_zero_among_others():
    """Its line is one with those of the others, which were at 0."""
    everywhere = {slot: sample() for slot in range(LAST - SLOT_COUNT + 1, LAST + 1)}
    silent = {slot: one for slot, one in everywhere.items() if not LAST - 9 <= slot <= LAST - 4}
    charts = draw(LAST, {"shard0": everywhere, "shard1": silent}, {})
    parked, memory = charts.charts[5], charts.charts[3]
    assert parked.lines["all 2"][-10:] == [*[None] * 6, *[0.0] * 4]
    assert (len(parked.notes), parked.gaps) == (1, [])
    assert parked.notes[0].startswith("No samples of shard1 from")
    assert memory.notes == ["No samples in this hour: no compensator ran, or Redis was away."]
    assert memory.gaps == [(0, SLOT_COUNT - 1)]


def test_deliveries_are_a_rate_of_the_time_between_samples():
    found = ((100, 0.0), (150, 10.0), (150, 24.0), (350, 29.0))
    samples = {
        LAST - 3 + n: sample(delivered=total, at_s=at_s) for n, (total, at_s) in enumerate(found)
    }
    line = lines_of("deliveries", {"shard0": samples})["shard0"]
    assert ends_of(line) == [None, 5.0, 0.0, 40.0]


def test_no_rate_over_a_gap_or_when_counting_or_time_began_anew():
    samples = {
        LAST - 3: sample(delivered=900, at_s=0),
        LAST - 1: sample(delivered=1_000, at_s=20),
        LAST: sample(delivered=10, at_s=30),
    }
    assert lines_of("deliveries", {"shard0": samples}) == {}
    samples[LAST - 2] = sample(delivered=950, at_s=10)
    line = lines_of("deliveries", {"shard0": samples})["shard0"]
    assert ends_of(line) == [None, 5.0, 5.0, None]
    samples[LAST] = sample(delivered=2_000, at_s=20)
    assert ends_of(lines_of("deliveries", {"shard0": samples})["shard0"]) == [None, 5.0, 5.0, None]


def test_hits_of_what_was_asked_between_samples():
    reads = ({"redis": (10, 10)}, {"redis": (40, 20)}, {"redis": (40, 20), "local": (1, 0)}, {})
    fleet = {LAST - 3 + n: FleetSample(0, 0, one) for n, one in enumerate(reads)}
    lines = lines_of("hits", fleet=fleet)
    assert ends_of(lines["redis"]) == [None, 75.0, None, None]
    assert ends_of(lines["local"]) == [None, None, 100.0, None]


def test_memory_and_its_limit():
    fleet = {LAST: FleetSample(3 * MEBI, 0, {})}
    assert list(lines_of("memory", fleet=fleet)) == ["used"]
    fleet[LAST] = FleetSample(3 * MEBI, 8 * MEBI, {})
    lines = lines_of("memory", fleet=fleet)
    assert (lines["used"][-1], lines["limit"][-1]) == (3.0, 8.0)


def test_slow_queries():
    lines = lines_of("slow", {"shard0": {LAST: sample(slow=2)}, "shard1": {LAST: sample()}})
    assert (lines["shard0"][-1], lines["1 other"][-1]) == (2, 0.0)


# 16:00:00 to 16:01:30 UTC.
SLOTS = range(360_000, 360_010)
ALL = set(SLOTS)
NONE = "No samples in this hour: no compensator ran, or Redis was away."


def but(*places: int) -> set[int]:
    return ALL - {SLOTS[place] for place in places}


@pytest.mark.parametrize(
    ("known", "notes"),
    [
        ({"a": ALL, "b": ALL}, []),
        ({"a": set(), "b": set()}, [NONE]),
        ({"a": ALL, "b": set()}, ["No samples of b in this hour."]),
        ({"a": but(2, 3), "b": but(2, 3)}, ["No samples from 16:00:20 to 16:00:40 UTC."]),
        (
            {"a": but(2, 3), "b": but(3), "c": ALL},
            [
                "No samples of a from 16:00:20 to 16:00:40 UTC.",
                "No samples of b from 16:00:30 to 16:00:40 UTC.",
            ],
        ),
        ({"a": but(0, 1)}, ["No samples before 16:00:20 UTC."]),
        ({"a": but(7, 8, 9)}, ["No samples since 16:01:10 UTC."]),
        # The last two are due.
        ({"a": but(8, 9)}, []),
        (
            {"a": {SLOTS[0], SLOTS[2], SLOTS[4], SLOTS[6], SLOTS[9]}, "b": but(1)},
            [
                "No samples of a from 16:01:10 to 16:01:30 UTC.",
                "No samples of a from 16:00:50 to 16:01:00 UTC.",
                "No samples of a from 16:00:30 to 16:00:40 UTC.",
                "No samples from 16:00:10 to 16:00:20 UTC.",
            ],
        ),
    ],
)  # fmt: skip
def test_periods_without_samples_are_described(
    known: dict[str, set[int]], notes: list[str]
) -> None:
    assert describe(SLOTS, known) == notes


def test_many_gaps_are_summed_up() -> None:
    slots = range(360_000, 360_030)
    notes = describe(slots, {"a": {*slots[1::2]}})
    assert len(notes) == 5
    assert notes[-1] == "And 11 earlier gaps."


def test_only_what_lacks_everywhere_is_a_gap_of_the_chart() -> None:
    assert find_common(SLOTS, {"a": but(2, 3), "b": but(3, 4)}) == [(3, 3)]
    assert find_common(SLOTS, {"a": set(), "b": but(0)}) == [(0, 0)]


NOW_S = 1_800_000_000.0
BOUNDS = (0.01, 0.1, 1.0, inf)


def sample_of(
    ago_s: float, answers: int, failures: int = 0, machine: str = "a"
) -> tuple[int, FleetSample]:
    """All its answers took 10 to 100 ms."""
    at_s = NOW_S - ago_s
    by_time = {"0.01": 0, "0.1": answers, "1.0": answers, "+Inf": answers}
    requests = RequestTotals(machine, at_s, answers, failures, by_time)
    return slot_of(at_s), FleetSample(0, 0, {}, requests)


def test_the_difference_of_two_samples_is_shown() -> None:
    fleet = dict([sample_of(200, 1_000, 5), sample_of(100, 1_500, 6), sample_of(0, 2_000, 30)])
    traffic = measure(fleet, NOW_S)
    assert traffic == Traffic("a", 5.0, pytest.approx(0.055), pytest.approx(0.0991), 0.025)


def test_nothing_is_said_without_two_fresh_samples_of_one_machine() -> None:
    old = FRESH_S + SLOT_S
    for samples in (
        [],
        [sample_of(0, 10)],
        [sample_of(100, 10), sample_of(old, 20)],
        [sample_of(20, 10, machine="b"), sample_of(0, 20)],
        [sample_of(20, 30), sample_of(0, 20)],
        [(slot_of(NOW_S), FleetSample(0, 0, {}))],
    ):
        assert measure(dict(samples), NOW_S) is None, samples


def test_samples_of_another_machine_are_left_out() -> None:
    fleet = dict([sample_of(100, 10), sample_of(50, 9_000, machine="b"), sample_of(0, 110)])
    traffic = measure(fleet, NOW_S)
    assert traffic is not None
    assert (traffic.machine, traffic.per_s) == ("a", 1.0)


def test_no_requests_are_no_times_and_no_ratio() -> None:
    traffic = measure(dict([sample_of(100, 10), sample_of(0, 10)]), NOW_S)
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
