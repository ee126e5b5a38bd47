"""How many requests are answered now, how fast, and how many fail: of the last five minutes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isinf
from typing import NamedTuple

from operations.samples import FleetSample, RequestTotals, slot_of

WINDOW_S = 300
# A compensator takes six samples in this time. Without any, the figures would not be of now.
FRESH_S = 60
HALF, NEARLY_ALL = 0.5, 0.99
Buckets = Sequence[tuple[float, int]]


class Traffic(NamedTuple):
    """Requests of one machine, of all routes. `p50_s`, `p99_s`: wall times, estimated as Prometheus
    does; infinite above the highest bound that is counted. They and `failed_ratio` are None
    without a request.
    """

    machine: str
    per_s: float
    p50_s: float | None
    p99_s: float | None
    failed_ratio: float | None


def measure(fleet: Mapping[int, FleetSample], now_s: float) -> Traffic | None:
    """Compares the newest sample of the last WINDOW_S with the oldest one of the same machine. None
    if there are no two samples to compare."""
    since, slots = slot_of(now_s - WINDOW_S), sorted(fleet.items())
    totals = [sample.requests for slot, sample in slots if sample.requests and slot >= since]
    if not totals or totals[-1].at_s < now_s - FRESH_S:
        return None
    of_machine = [total for total in totals if total.machine == totals[-1].machine]
    fell = any(after.answers < before.answers for before, after in pairwise(of_machine))
    if len(of_machine) == 1 or fell:
        return None
    return _compare(of_machine[0], of_machine[-1])


def estimate(buckets: Buckets, share: float) -> float | None:
    """The time that this share of the requests did not exceed, in seconds. None without requests.

    `buckets`: bounds that rise up to infinity, each with the requests up to it. Within a bucket the
    times count as evenly spread.
    """
    if not buckets or not buckets[-1][1]:
        return None
    wanted = share * buckets[-1][1]
    lower, below = 0.0, 0
    for bound, count in buckets:
        if count >= wanted and count > below:
            if isinf(bound):
                return bound
            return lower + (bound - lower) * (wanted - below) / (count - below)
        lower, below = bound, count
    return None


def _compare(first: RequestTotals, last: RequestTotals) -> Traffic | None:
    passed_s = last.at_s - first.at_s
    if passed_s <= 0:
        return None
    answers, failures = last.answers - first.answers, last.failures - first.failures
    counts = {float(bound): n - first.by_time.get(bound, 0) for bound, n in last.by_time.items()}
    buckets = sorted(counts.items())
    return Traffic(
        last.machine,
        answers / passed_s,
        estimate(buckets, HALF),
        estimate(buckets, NEARLY_ALL),
        failures / answers if answers else None,
    )
