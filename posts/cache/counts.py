"""The cache of post counts: process memory (as old as copy_ages.py says), then Redis, then shards.

    posts.counts:v1:{author}:moment   version:…:replies,reposts,favourites

The version of an entry is the sum of the versions of its counts. Each version only grows and all
are read in one snapshot, so the sum says which of two entries is newer.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from counters.kinds import POST_KINDS
from counters.queries.counts import NONE_YET, read_subject_counts
from counters.types import Count
from infra.caching.copy_ages import NAMES_AND_COUNTS
from infra.caching.invalidation import forget_family, register_copies
from infra.caching.keys import key
from infra.caching.process_cache import ProcessCache, ProcessCacheReply
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question
from infra.caching.round_trips import run_together
from infra.caching.values import ValueCache, Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.telemetry.reached_branches import reached
from posts.api.present import present_counts
from posts.cache.by_author import PostCopy
from posts.cache.weeks import Fragments
from posts.ids import MAX_SECOND, SEQUENCES, PostId

# Most readers of a new post come in this time.
NEW_S = 600
MOST_COUNTS = most_entries("posts.counts", share=0.05, bytes_each=270)
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
    return {number_of(i): _versioned(count) for i, count in counts.items()}


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
    return {PostId.at(*where): count for part in answers for where, count in part.items()}


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


_counts_in_memory = _CountsInMemory("posts.counts", MOST_COUNTS, NAMES_AND_COUNTS)
register_copies(post_counts.family, _counts_in_memory)


def ask_counts(
    ids: Collection[PostId],
    fragments: Question[Fragments] | Question[Mapping[PostId, PostCopy]],
    is_current: bool = False,
) -> Question[dict[PostId, bytes]]:
    """JSON of the counts of the posts that have a fragment: ids that a client makes up would create
    entries.

    `fragments`: by post, or copies that have them. `is_current`: none from process memory. Cost: at
    most one command. Counts that Redis lacks are read from the shards.
    """
    if not ids:
        return Question((), lambda _: {})
    if is_current:
        copies = ProcessCacheReply[PostId, bytes]({}, list(ids), time.monotonic())
    else:
        copies = _counts_in_memory.split(ids)
    if not copies.missing:
        return Question((), lambda _: copies.hits, has_copies=bool(copies.hits))
    numbers = list(map(number_of, copies.missing))
    texts = post_counts.ask_uncopied(numbers, lambda: set(map(number_of, fragments.value)))
    return texts.then(partial(_merge, copies), has_copies=bool(copies.hits))


def _merge(
    copies: ProcessCacheReply[PostId, bytes], texts: Mapping[int, bytes]
) -> dict[PostId, bytes]:
    """All counts, after those that were missing are in process memory too."""
    shown = {post_of(number): present_counts(text) for number, text in texts.items()}
    _counts_in_memory.store(shown, copies.asked_at)
    return copies.hits | shown


def find_counts_asked_at(post_id: PostId, counts: bytes) -> float:
    """When this JSON was asked for, if it is the copy in process memory; else -inf."""
    return _counts_in_memory.find_asked_at(post_id, counts)


def refresh_post_counts(ids: Iterable[PostId]) -> None:
    """Writes the current counts of these posts to Redis. One query per shard, one round trip.

    Raises: RedisError, so that the consumer runs again.
    """
    post_counts.refresh(load_count_entries(ids))


def load_count_entries(ids: Iterable[PostId]) -> Mapping[int, Versioned]:
    """The entries of these posts. Call it after the commit. One query per shard."""
    return _load(list(map(number_of, dict.fromkeys(ids))))


def store_no_responses(ids: Sequence[PostId], until: float) -> None:
    """Stores the counts of new posts, so that their first readers do not read them from the shard.

    Only before another process knows the posts: later they may have responses. So if Redis has them
    after `until`, by the monotonic clock, they are read all the same. Cost: a round trip, which it
    may share.
    """
    entry = _versioned([NONE_YET] * len(POST_KINDS))
    post_counts.create(dict.fromkeys(map(number_of, ids), entry), NEW_S)
    run_together([], lambda _: _refresh_if_late(ids, until))


def _refresh_if_late(ids: Sequence[PostId], until: float) -> None:
    """For a process that was paused."""
    if ids and time.monotonic() > until:
        reached("posts.counts_created_late")
        refresh_post_counts(ids)


def forget_counts() -> None:
    """Empties this process's copies of counts."""
    forget_family(post_counts.family)
