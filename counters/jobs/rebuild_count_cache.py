"""Makes the caches of counts equal to the counts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from counters.queries.counts import Subject
from counters.registry import CountCache, list_count_caches
from infra.caching.client import redis
from infra.caching.questions import answer_by_redis, ask_keys
from infra.caching.scripts import load_script
from infra.caching.values import Versioned
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, ReadRows, Row, walk
from infra.sharding.sql import fetch_all

SUBJECTS = """
SELECT DISTINCT owner_id, subject FROM counters_counter
WHERE (owner_id, subject) > (%s, %s) AND (%s::bigint IS NULL OR owner_id = %s)
ORDER BY 1, 2 LIMIT %s
"""
BEFORE_ALL = (0, -1)
DROP = load_script(Path(__file__).with_name("drop_equal.lua"))


class WrongCacheEntry(NamedTuple):
    """A wrong entry of Redis, and the correct one that was read after it."""

    cached: CountCache
    number: int
    raw: bytes
    right: Versioned

    @property
    def key(self) -> bytes:
        return self.cached.cache.key(self.number)

    @property
    def payload(self) -> bytes:
        return self.raw.rpartition(b":")[2]

    def __str__(self) -> str:
        return f"{self.key.decode()}: {self.payload.decode()} -> {self.right.payload.decode()}"


def rebuild_count_cache(work: Work) -> Iterator[Batch]:
    """Replaces entries that differ from their counts; a batch of subjects each.

    What is not cached stays so: readers load it. Raises: RedisError, what UNREACHABLE lists.
    Cost: a query a batch, a round trip and a query for each cache, two more for what is wrong.
    """
    for alias, rows, position in walk(work, _reader(work.account_id), key_length=2):
        wrong = [
            entry for cached in list_count_caches() for entry in _find_wrong(alias, cached, rows)
        ]
        failpoint("counters.wrong_entries_found")
        if not work.dry_run:
            _repair(wrong)
        yield Batch(len(rows), 0, alias, len(wrong), position, [*map(str, wrong)])


def _reader(account_id: int | None) -> ReadRows:
    def read(alias: str, after: Key | None, count: int) -> list[Row]:
        return fetch_all(alias, SUBJECTS, (*(after or BEFORE_ALL), account_id, account_id, count))

    return read


def _find_wrong(alias: str, cached: CountCache, rows: Sequence[Row]) -> list[WrongCacheEntry]:
    """Reads the rows after the entries, so an entry may be older than its rows, never newer."""
    subjects: list[Subject] = [(row[0], row[1]) for row in rows]
    numbers = cached.numbers_of(subjects)
    raws = answer_by_redis(ask_keys(cached.cache.keys(list(numbers)), lambda raws: raws or ()))
    entries = {n: raw for n, raw in zip(numbers, raws, strict=True) if raw is not None}
    rights = cached.read(alias, {number: numbers[number] for number in entries})
    cached_counts = (
        WrongCacheEntry(cached, number, raw, rights[number]) for number, raw in entries.items()
    )
    return [entry for entry in cached_counts if entry.payload != entry.right.payload]


def _repair(wrong: Sequence[WrongCacheEntry]) -> None:
    """Drops entries that did not change since they were read, and loads them again."""
    redis().run([DROP.on([entry.key], entry.raw) for entry in wrong])
    for cached in dict.fromkeys(entry.cached for entry in wrong):
        numbers = [entry.number for entry in wrong if entry.cached is cached]
        cached.cache.load_many(numbers)
