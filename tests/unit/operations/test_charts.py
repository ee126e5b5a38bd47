"""From samples to lines."""

from operations.queries.charts import MEBI, draw
from operations.samples import SLOT_COUNT, SLOT_S, DatabaseSample, FleetSample

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
