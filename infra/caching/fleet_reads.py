"""Reads per key of all processes together, in Redis: a sliding window over two sorted sets.

    caching.hot:v1:{fleet}:<n>   member: a key, score: its reads; of the n-th WINDOW_S since 1970

The window is the present set plus a share of the one before (the sliding counter of Cloudflare's
rate limits). The clocks of machines may differ by a fraction of WINDOW_S; reads then count a little
earlier or later.
"""

from collections import defaultdict
from collections.abc import Mapping
from operator import attrgetter
from typing import NamedTuple

from infra.caching.client import redis
from infra.caching.keys import key

FAMILY = "caching.hot:v1"
WINDOW_S = 5
MOST_LISTED = 200


class KeyReadRate(NamedTuple):
    """A key and its reads a second, by all processes that report it."""

    name: str
    reads_s: float


class _Window(NamedTuple):
    now: bytes
    before: bytes
    share_before: float


def add_reads(reads: Mapping[bytes, int], wall_s: float) -> dict[bytes, float]:
    """Adds a process's reads. Returns the reads a second of the same keys by all processes.

    Raises: RedisError. Cost: one round trip.
    """
    window, names = _window_at(wall_s), list(reads)
    replies = redis().run([
        *(("ZINCRBY", window.now, reads[name], name) for name in names),
        ("PEXPIRE", window.now, 3 * WINDOW_S * 1000),
        ("ZMSCORE", window.before, *names),
    ])  # fmt: skip
    return {
        name: (float(now) + window.share_before * float(before or 0)) / WINDOW_S
        for name, now, before in zip(names, replies[: len(names)], replies[-1], strict=True)
    }


def list_read_rates(wall_s: float) -> list[KeyReadRate]:
    """The MOST_LISTED keys with the most reads, most first. Raises: RedisError. One round trip."""
    window = _window_at(wall_s)
    sets = (window.now, window.before)
    now, before = redis().run(
        [("ZREVRANGE", name, 0, MOST_LISTED - 1, "WITHSCORES") for name in sets]
    )
    reads: defaultdict[bytes, float] = defaultdict(float)
    for reply, share in ((now, 1.0), (before, window.share_before)):
        for name, score in zip(reply[::2], reply[1::2], strict=True):
            reads[name] += float(score) * share
    warm = [
        KeyReadRate(name.decode(errors="replace"), count / WINDOW_S)
        for name, count in reads.items()
    ]
    return sorted(warm, key=attrgetter("reads_s"), reverse=True)[:MOST_LISTED]


def _window_at(wall_s: float) -> _Window:
    number, into = divmod(wall_s, WINDOW_S)
    now, before = (key(FAMILY, "fleet", int(number) - ago) for ago in (0, 1))
    return _Window(now, before, 1 - into / WINDOW_S)
