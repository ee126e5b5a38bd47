"""Periods of the charts without samples, in words: a gap is not a zero."""

import pytest

from operations.queries.gaps import describe, find_common

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
