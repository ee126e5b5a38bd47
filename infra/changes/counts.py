"""What this process delivered, for /metrics; once a batch."""

from collections import Counter as Tally
from collections.abc import Iterable

from prometheus_client import Counter

DELIVERED = Counter("tideline_changes_delivered_total", "Changes delivered and filed", ["kind"])
FAILED = Counter("tideline_changes_failed_total", "Attempts to deliver that failed", ["kind"])


def count_delivered(kinds: Iterable[str]) -> None:
    _add(DELIVERED, kinds)


def count_failed(kinds: Iterable[str]) -> None:
    _add(FAILED, kinds)


def _add(counter: Counter, kinds: Iterable[str]) -> None:
    for kind, count in Tally(kinds).items():
        counter.labels(kind).inc(count)
