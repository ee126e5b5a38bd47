"""Finds counts that are written very often, by all processes together.

    counters.hot:v1:{owner}:subject   hash, see lua/hot_counts.lua; it expires within seconds

The moves of a hot count are postponed and added up, so that its row is written once in a throttle
window. Without Redis no count is hot.
"""

from collections.abc import Collection, Iterable
from pathlib import Path

from redis.exceptions import RedisError

from counters.queries.counts import Subject
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.scripts import load_script

HOT_COUNTS = load_script(Path(__file__).with_name("lua") / "hot_counts.lua")
FAMILY = "counters.hot:v1"
# Writes in a second from which on a count is hot, and for how many seconds more.
HOT_WRITES_S, HOT_S = 10, 2


def find_hot_counts(subjects: Iterable[Subject]) -> Collection[Subject]:
    """The subjects whose counts are hot. The caller is about to write each of them once.

    Cost: one round trip.
    """
    wanted = list(dict.fromkeys(subjects))
    arguments = (HOT_WRITES_S, HOT_S)
    commands = [HOT_COUNTS.on([key(FAMILY, *subject)], *arguments) for subject in wanted]
    try:
        replies = redis().run(commands)
    except RedisError:
        return set()
    return {subject for subject, is_hot in zip(wanted, replies, strict=True) if is_hot}
