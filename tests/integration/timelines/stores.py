"""Every store of timelines, and how to simulate lost data and time in each."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.conf import settings

from infra.caching.client import redis
from infra.caching.questions import answer
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from timelines.stores.interface import TimelineStore
from timelines.stores.packed import PackedStore
from timelines.stores.postgres import PostgresStore
from timelines.stores.tiered import TieredStore
from timelines.stores.zset import ZsetStore
from timelines.types import LiveTimeline

DAY_S = 86_400
# Seconds of tests are from the first minutes of the product.
EVER = 100_000
MOST = 16


class Kind(NamedTuple):
    """A store under test.

    `lose` deletes all data, as a flush does. `evict` deletes one key of a timeline, as Redis does
    when its memory is full.
    """

    name: str
    make: Callable[[], TimelineStore]
    in_redis: bool
    in_rows: bool

    def lose(self) -> None:
        if self.in_redis:
            redis().call("FLUSHDB")
        if self.in_rows:
            for alias in settings.SHARD_ALIASES:
                execute(alias, "DELETE FROM timelines_head")

    def evict(self, reader_id: int, nth: int) -> None:
        found = sorted(redis().call("KEYS", f"timelines.*{{{reader_id}}}*"))
        if found:
            redis().call("DEL", found[nth % len(found)])

    def age(self, reader_id: int, days: float) -> None:
        """Simulates that time passes for a timeline."""
        if self.in_redis:
            for found in redis().call("KEYS", f"timelines.*{{{reader_id}}}*"):
                left_ms = redis().call("PTTL", found) - int(days * DAY_S * 1000)
                redis().call("PEXPIRE", found, max(left_ms, -1))
        if self.in_rows:
            older = "UPDATE timelines_head SET read_at = read_at - %s * interval '1 day'"
            execute(shard_of(reader_id), older + " WHERE reader_id = %s", (days, reader_id))


def _postgres(days: int) -> PostgresStore:
    return PostgresStore(MOST, days, EVER)


KINDS = [
    Kind("packed", lambda: PackedStore(MOST, 14 * DAY_S), True, False),
    Kind("zset", lambda: ZsetStore(MOST, 14 * DAY_S), True, False),
    Kind("postgres", lambda: _postgres(14), False, True),
    Kind("tiered", lambda: TieredStore(PackedStore(MOST, 14 * DAY_S), _postgres(60)), True, True),
]


def read(store: TimelineStore, reader_id: int) -> LiveTimeline | None:
    """As a page does."""
    return answer(store.ask(reader_id))


def entries(timeline: LiveTimeline | None) -> Sequence[bytes] | None:
    """The entries from the low-water mark on, in order, without repeats."""
    return None if timeline is None else sorted(set(timeline.packed))
