"""The first page's figures of requests and changes, out of the compensators' samples. No store.

A figure without a sample is "not known", with the reason, and never a zero.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isinf

from django.urls import reverse

from infra.changes.lag import LagReport
from infra.changes.lanes import LaneGroup, group_of
from operations.queries.traffic import WINDOW_S, Traffic
from operations.types import UNKNOWN, Figure

NO_SAMPLE = f"No compensator took two samples of one machine in {WINDOW_S // 60} minutes."
NO_REPORT = "No compensator reported in the last minute."
REQUESTS = ("Requests a second", "Wall time, p50 / p99", "Answers that failed")
CHANGES = ("Delay of delivery", "Parked changes")
# Above these, alerts of deploy/prometheus/alerts.yml fire.
HIGH_RATIO, HIGH_DELAY_S = 0.01, 60


def request_figures(traffic: Traffic | None, problem: str) -> Iterator[Figure]:
    """`problem`: why there is no traffic, if a store is the reason."""
    url = reverse("operations")
    if traffic is None:
        yield from (Figure(name, UNKNOWN, problem or NO_SAMPLE, url) for name in REQUESTS)
        return
    rate, times, failed = REQUESTS
    where = f"on {traffic.machine}, in the last {WINDOW_S // 60} minutes"
    is_bad = (traffic.failed_ratio or 0) > HIGH_RATIO
    yield Figure(rate, f"{traffic.per_s:,.1f}", where, url)
    yield Figure(times, _times(traffic), "of all routes there", url)
    yield Figure(failed, _percent(traffic.failed_ratio), "with a status of 5xx", url, is_bad)


def change_figures(
    reports: Mapping[str, LagReport], aliases: Sequence[str], problem: str
) -> Iterator[Figure]:
    """The delay is the age of the oldest ordinary change of any database that is not delivered.

    `problem`: why there are no reports, if a store is the reason.
    """
    delay, parked = CHANGES
    charts, page = reverse("operations"), reverse("parked_changes")
    if not reports:
        yield Figure(delay, UNKNOWN, problem or NO_REPORT, charts)
        yield Figure(parked, UNKNOWN, problem or NO_REPORT, page)
        return
    lags = [lag for report in reports.values() for lag in report.lags]
    oldest_s = max((i.oldest_s for i in lags if group_of(i.lane) is LaneGroup.ORDINARY), default=0)
    with_parked = [lag for lag in lags if lag.parked]
    count, lack = sum(lag.parked for lag in with_parked), _lack(reports, aliases)
    where = f"{page}?shard={with_parked[0].alias}" if with_parked else page
    high = oldest_s > HIGH_DELAY_S
    yield Figure(delay, f"{oldest_s:,.1f} s", f"the oldest pending change{lack}", charts, high)
    yield Figure(parked, f"{count:,}", f"wait for an operator{lack}", where, count > 0)


def _lack(reports: Mapping[str, LagReport], aliases: Sequence[str]) -> str:
    missing = [alias for alias in aliases if alias not in reports]
    return f"; not known of {', '.join(missing)}" if missing else ""


def _times(traffic: Traffic) -> str:
    if traffic.p50_s is None or traffic.p99_s is None:
        return "none"
    return f"{_milliseconds(traffic.p50_s)} / {_milliseconds(traffic.p99_s)} ms"


def _milliseconds(seconds: float) -> str:
    return "above 5,000" if isinf(seconds) else f"{seconds * 1_000:,.1f}"


def _percent(ratio: float | None) -> str:
    return "none" if ratio is None else f"{ratio:.2%}"
