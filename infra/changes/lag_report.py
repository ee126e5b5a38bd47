"""The lag as the compensator last saw it, written down in Redis for every process that shows it.

changes.lag:v1:{shard0}   {"at_s": Unix seconds, "lags": [Lag], "paused": [kind]}
"""

import time
from collections.abc import Sequence

import msgspec

from infra.caching.client import redis
from infra.caching.keys import key
from infra.changes.chores import chore
from infra.changes.lag import Lag, lag_of
from infra.changes.pausing import list_paused
from infra.sharding.placement import Placement

EVERY_S = 5
KEPT_S = 60


class LagReport(msgspec.Struct):
    """What waited on a database at that moment."""

    at_s: float
    lags: list[Lag]
    paused: list[str]


@chore(every_s=EVERY_S, placement=Placement.EVERYWHERE)
def report_lag(alias: str) -> None:
    """Writes down what waits on a database now. Two queries, one round trip.

    Raises: RedisError, what UNREACHABLE lists.
    """
    paused = [one.kind for one in list_paused(alias) if not one.is_ending]
    report = LagReport(time.time(), lag_of(alias), paused)
    redis().call("SET", _key(alias), msgspec.json.encode(report), "EX", KEPT_S)


def read_reports(aliases: Sequence[str]) -> dict[str, LagReport]:
    """Reports of databases that a compensator looked at lately. Raises: RedisError. One trip."""
    replies = redis().run([("GET", _key(alias)) for alias in aliases])
    return {
        alias: msgspec.json.decode(raw, type=LagReport)
        for alias, raw in zip(aliases, replies, strict=True)
        if raw is not None
    }


def _key(alias: str) -> bytes:
    return key("changes.lag:v1", alias)
