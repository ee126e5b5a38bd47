"""How many acts of each kind were ever done, by whichever process: the compensator counts the rows.

    moderation.decisions:v1:{default}   "acts counted:ActCounts as JSON"

Rows are only ever added: what was counted is kept, and what came behind it is counted every time
until it is an hour old. An id may be seen after a greater one, as late as its transaction ends, so
none behind which a younger act stands is left out; an hour is far more than an act may take.
"""

import msgspec

from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.values import WRITE_VALUE
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

KEPT_MS = 86_400_000
# At a time, for changes wait meanwhile: 0.1 s. Only when Redis was flushed so many are news.
MOST = 100_000
KEY = key("moderation.decisions:v1", GLOBAL_ALIAS)
# By the primary key.
NEWS = """
WITH news AS MATERIALIZED (
    SELECT id, kind, created_at FROM moderation_decision WHERE id > %s ORDER BY id LIMIT %s
), settled AS (
    SELECT coalesce(max(id), 0) AS id FROM news WHERE created_at < now() - interval '1 hour'
)
SELECT kind, count(*), count(*) FILTER (WHERE news.id <= settled.id), settled.id
FROM news CROSS JOIN settled GROUP BY kind, settled.id
"""


class DecisionCounts(msgspec.Struct, frozen=True):
    """By act. `settled`: those up to `settled_id`; `counts`: of all that were counted. They are
    all there are if it `is_whole`; else another sample goes on behind them."""

    settled_id: int = 0
    settled: dict[str, int] = {}
    counts: dict[str, int] = {}
    is_whole: bool = False


def sample_decisions(_alias: str) -> None:
    """Cost: a query of the acts of the last hour (0.5 ms of a few), two round trips.

    Raises: RedisError.
    """
    store_counts(count_since(read_decision_counts()))


def read_decision_counts() -> DecisionCounts:
    """As they were sampled last; not whole if nobody did. One round trip. Raises: RedisError."""
    raw = redis().call("GET", KEY)
    if raw is None:
        return DecisionCounts()
    _, _, payload = raw.partition(b":")
    return msgspec.json.decode(payload, type=DecisionCounts)


def count_since(known: DecisionCounts) -> DecisionCounts:
    """With what came since. One query of MOST rows at most."""
    settled_id, settled, counts, found = known.settled_id, {**known.settled}, {**known.settled}, 0
    for kind, news, old, last_id in fetch_all(GLOBAL_ALIAS, NEWS, (known.settled_id, MOST)):
        counts[kind] = counts.get(kind, 0) + news
        settled[kind] = settled.get(kind, 0) + old
        settled_id = max(settled_id, last_id)
        found += news
    return DecisionCounts(settled_id, settled, counts, is_whole=found < MOST)


def store_counts(counted: DecisionCounts) -> None:
    """Unless another compensator has counted more: Prometheus takes a counter that falls for one
    that began anew, and would count all acts again."""
    payload = msgspec.json.encode(counted)
    redis().call(*WRITE_VALUE.on([KEY], sum(counted.counts.values()), payload, KEPT_MS))
