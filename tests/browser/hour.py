"""An hour of samples as compensators leave them, with something to see in every chart."""

import math
import time

from django.conf import settings

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.shards import all_aliases
from operations.samples import (
    FAMILY,
    FLEET,
    SLOT_COUNT,
    SLOT_S,
    DatabaseSample,
    FleetSample,
    RequestTotals,
    _write,
    slot_of,
)

LANES = range(settings.CHANGE_LANES)
# By database: how much of what the busiest delivers.
LOADS = (0.1, 1.0, 0.7, 0.8, 0.5)


def lay_hour(now_s: float | None = None) -> None:
    """Up to the slot before this one. Cost: 1,800 round trips, half a second."""
    last_s = (now_s or time.time()) - SLOT_S
    for alias, load in zip(all_aliases(), LOADS, strict=True):
        for n in range(SLOT_COUNT - 1):
            _write(alias, _database(n, load, last_s), last_s - (SLOT_COUNT - 2 - n) * SLOT_S)
    for n in range(SLOT_COUNT - 1):
        at_s = last_s - (SLOT_COUNT - 2 - n) * SLOT_S
        _write(FLEET, _fleet(n, at_s), at_s)


def _database(n: int, load: float, last_s: float) -> DatabaseSample:
    lag_s = 24 * load * math.exp(-(((n - 250) / 9) ** 2)) if load == 1.0 else 0
    lags = {lane: round(lag_s + load * (n * 7 % 5) / 5, 1) for lane in LANES}
    rates = (load * (60 + 25 * math.sin(k / 40) + k * 13 % 9) for k in range(n))
    parked = 2 if load == 1.0 and n > 255 else 0
    slow = 1 if load == 0.8 and 120 < n < 140 else 0
    return DatabaseSample(lags, parked, int(SLOT_S * sum(rates)), slow, last_s - (358 - n) * SLOT_S)


def _fleet(n: int, at_s: float) -> FleetSample:
    reads = {
        "local": (n * 900 + int(2000 * math.sin(n / 30)), n * 120),
        "redis": (n * 110, n * 10 + int(30 * math.sin(n / 15))),
    }
    answers = 420 * n
    by_time = {"0.005": answers // 2, "0.05": answers * 97 // 100, "0.25": answers, "+Inf": answers}
    requests = RequestTotals("web-1", at_s, answers, n // 2, by_time)
    memory_bytes = int((180 + n / 9 + 4 * math.sin(n / 20)) * 2**20)
    return FleetSample(memory_bytes, 512 * 2**20, reads, requests)


def forget_minutes(first: int, last: int) -> None:
    """Deletes the samples between so many minutes ago, as if no compensator had run."""
    now_s = time.time()
    older, newer = (slot_of(now_s - 60 * minutes) for minutes in (first, last))
    for name in (*all_aliases(), FLEET):
        where = key(FAMILY, name)
        for id_, _ in redis().call("XRANGE", where, f"{older}-0", f"{newer}-0"):
            redis().call("XDEL", where, id_)
