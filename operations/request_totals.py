"""What the web processes of one machine answered people so far, read from their metrics."""

import socket
from collections.abc import Iterable

import msgspec
from prometheus_client import Metric
from prometheus_client.samples import Sample

RESPONSES = "tideline_responses"
LATENCY = "tideline_request_seconds"
FAILED = "5"  # how the statuses of failures begin
# What machines ask all the time. A server that starts answers 503 there, which is no failure.
OF_MACHINES = ("health/", "metrics")


class RequestTotals(msgspec.Struct, array_like=True):
    """Answers since an arbitrary start: only differences between two of one `machine` mean
    something.

    `failures`: answers with a status of 5xx. `by_time`: how many took at most so many seconds; the
    keys are the bounds as Prometheus writes them, up to `+Inf`. `at_s`: Unix seconds.
    """

    machine: str
    at_s: float
    answers: int
    failures: int
    by_time: dict[str, int]


def read_totals(metrics: Iterable[Metric], at_s: float) -> RequestTotals:
    """The totals in these metrics; all are 0 before the first request. No store."""
    totals = RequestTotals(socket.gethostname(), at_s, 0, 0, {})
    for metric in metrics:
        if metric.name == RESPONSES:
            _add_answers(totals, metric)
        elif metric.name == LATENCY:
            _add_times(totals, metric)
    return totals


def _add_answers(totals: RequestTotals, metric: Metric) -> None:
    for sample in _of_people(metric):
        totals.answers += int(sample.value)
        totals.failures += int(sample.value) * sample.labels["status"].startswith(FAILED)


def _add_times(totals: RequestTotals, metric: Metric) -> None:
    """Over all routes. A bucket of Prometheus also counts what the buckets below it count."""
    for sample in _of_people(metric):
        if bound := sample.labels.get("le"):
            totals.by_time[bound] = totals.by_time.get(bound, 0) + int(sample.value)


def _of_people(metric: Metric) -> Iterable[Sample]:
    return (
        sample
        for sample in metric.samples
        if not sample.labels.get("route", "").startswith(OF_MACHINES)
    )
