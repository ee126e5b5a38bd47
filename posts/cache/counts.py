"""The cache of post counts: process memory for COUNTS_S, then Redis, then the shard.

    posts.counts:v1:{author}:moment   version:…:replies,reposts,favourites

The version of an entry is the sum of the versions of its counts. Each version only grows and all
are read in one snapshot, so the sum says which of two entries is newer.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from counters.kinds import POST_KINDS
from counters.queries.counts import NONE_YET, read_subject_counts
from counters.types import Count
from infra.caching.client import Command
from infra.caching.invalidation import register_copies
from infra.caching.keys import key
from infra.caching.process_cache import ProcessCache
from infra.caching.values import ValueCache, Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from posts.api.present import present_counts
from posts.ids import MAX_SECOND, SEQUENCES, PostId

COUNTS_S = 1.0
# Most readers of a new post come in this time.
NEW_S = 600
MOST_COUNTS = 50_000
MOMENTS = (MAX_SECOND + 1) * SEQUENCES


def number_of(post_id: PostId) -> int:
    """A post as one number, the key type of a ValueCache."""
    return post_id.author_id * MOMENTS + post_id.moment


def post_of(number: int) -> PostId:
    return PostId.at(*divmod(number, MOMENTS))


class PostCounts(ValueCache):
    """A ValueCache by `number_of`. The keys of one author's posts share a hash tag."""

    def key(self, owner: int) -> bytes:
        return key(self.family, *divmod(owner, MOMENTS))


def _load(numbers: Sequence[int]) -> Mapping[int, Versioned]:
    counts = load_post_counts(map(post_of, numbers))
    return {number_of(i): _versioned(found) for i, found in counts.items()}


def load_post_counts(ids: Iterable[PostId]) -> dict[PostId, list[Count]]:
    """Counts from the shards, in the order of POST_KINDS. One query per shard."""
    by_author: dict[int, list[PostId]] = {}
    for post_id in ids:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    calls = {
        alias: partial(
            read_subject_counts,
            alias,
            [(author, i.moment) for author in authors for i in by_author[author]],
            POST_KINDS,
        )
        for alias, authors in group_by_shard(by_author).items()
    }
    answers = scatter(calls).values()
    return {PostId.at(*where): found for part in answers for where, found in part.items()}


def _versioned(counts: Sequence[Count]) -> Versioned:
    values = ",".join(str(count.value) for count in counts)
    return Versioned(sum(count.version for count in counts), values.encode())


post_counts = PostCounts(
    "posts.counts:v1", ttl_s=86_400, load=_load, check=re.compile(rb"\d+,\d+,\d+").fullmatch
)


class _CountsInMemory(ProcessCache[PostId, bytes]):
    """Keyed by PostId; other processes invalidate it by `number_of`."""

    def forget(self, numbers: Iterable[int]) -> None:  # type: ignore[override]
        super().forget(map(post_of, numbers))


_counts_in_memory = _CountsInMemory("posts.counts", MOST_COUNTS, COUNTS_S)
register_copies(post_counts.family, _counts_in_memory)


class CountReadPlan(NamedTuple):
    """Counts found in process memory, as JSON, and the posts to read from Redis."""

    in_memory: dict[PostId, bytes]
    missing: list[PostId]
    asked_at: float

    def commands(self) -> list[Command]:
        """At most one command; replies for `complete_counts`."""
        numbers = list(map(number_of, self.missing))
        return [("MGET", *post_counts.keys(numbers))] if numbers else []


def plan_counts(ids: Collection[PostId]) -> CountReadPlan:
    """Looks in process memory; what is missing there is to be read from Redis."""
    return CountReadPlan(*_counts_in_memory.split(ids))


def plan_counts_from_redis(ids: Collection[PostId]) -> CountReadPlan:
    """A plan that reads all of them from Redis."""
    return CountReadPlan({}, list(ids), time.monotonic())


def complete_counts(
    plan: CountReadPlan, replies: Sequence[Any], existing: Collection[PostId]
) -> dict[PostId, bytes]:
    """JSON of the counts of the existing posts. Counts that Redis lacks are read from the shards.

    Only of existing posts: otherwise ids that a client makes up would create entries.
    """
    if not plan.missing:
        return plan.in_memory
    raw = replies[0] or [None] * len(plan.missing)
    replied = zip(plan.missing, raw, strict=True)
    entries = {number_of(i): entry for i, entry in replied if i in existing}
    texts = post_counts.complete(entries) if entries else {}
    shown = {post_of(number): present_counts(text) for number, text in texts.items()}
    _counts_in_memory.store(shown, plan.asked_at)
    return plan.in_memory | shown


def refresh_post_counts(ids: Iterable[PostId]) -> None:
    """Writes the current counts of these posts to Redis. One query per shard, one round trip.

    Raises: RedisError, so that the consumer runs again.
    """
    post_counts.refresh(load_count_entries(ids))


def load_count_entries(ids: Iterable[PostId]) -> Mapping[int, Versioned]:
    """The entries of these posts. Call it after the commit. One query per shard."""
    return _load(list(map(number_of, dict.fromkeys(ids))))


def no_responses_command(post_id: PostId) -> Command:
    """Stores the counts of a new post, so that its first readers do not read them from the shard.

    Only before another process knows the post: later it may have responses.
    """
    entry = _versioned([NONE_YET] * len(POST_KINDS))
    return post_counts.create_command(number_of(post_id), entry, NEW_S)


def forget_counts() -> None:
    """Empties this process's copies of counts."""
    for copies in (post_counts, _counts_in_memory):
        copies.forget_all()
