"""The cache of post counts: Redis, then the shards.

    posts.counts:v2:{author}:moment   version:…:replies,reposts,favourites,quotes[,kind:count]…

After the four counts that all posts have come those of other reactions that are above zero. The
version of an entry is the sum of the versions of its counts. Each version only grows and all
are read in one snapshot, so the sum says which of two entries is newer.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from counters.kinds import POST_KINDS, REACTION_KINDS, CounterKind
from counters.queries.counts import NONE_YET, Subject, read_subject_counts
from counters.types import Count
from infra.caching.questions import Question
from infra.caching.round_trips import run_together
from infra.caching.values import Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.telemetry.reached_branches import reached
from posts.cache.by_post import PostValues, by_number, number_of, post_of
from posts.fragments.present import COUNTS
from posts.fragments.reactions import REACTION_COUNTS
from posts.ids import PostId

# In the order of the counts that the database is asked for.
ALL_KINDS = (*POST_KINDS, *REACTION_KINDS)
# Most readers of a new post come in this time.
NEW_S = 600


def _load(numbers: Sequence[int]) -> Mapping[int, Versioned]:
    counts = load_post_counts(map(post_of, numbers))
    return {number_of(i): entry_of_post(count) for i, count in counts.items()}


def load_post_counts(ids: Iterable[PostId]) -> dict[PostId, list[Count]]:
    """Counts from the shards, in the order of ALL_KINDS. One query per shard."""
    by_author: dict[int, list[PostId]] = {}
    for post_id in ids:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    calls = {
        alias: partial(
            read_subject_counts,
            alias,
            [(author, i.moment) for author in authors for i in by_author[author]],
            ALL_KINDS,
        )
        for alias, authors in group_by_shard(by_author).items()
    }
    answers = scatter(calls).values()
    return {PostId.at(*where): count for part in answers for where, count in part.items()}


def entry_of_post(counts: Sequence[Count]) -> Versioned:
    """The entry of these counts, which are in the order of ALL_KINDS."""
    values = [str(count.value) for count in counts[: len(POST_KINDS)]]
    reactions = zip(REACTION_KINDS, counts[len(POST_KINDS) :], strict=True)
    values += [f"{kind:d}:{count.value}" for kind, count in reactions if count.value]
    return Versioned(sum(count.version for count in counts), ",".join(values).encode())


def count_in(entry: bytes, kind: CounterKind) -> int:
    """This count in the payload of an entry."""
    values = entry.split(b",")
    if kind in POST_KINDS:
        return int(values[POST_KINDS.index(kind)])
    reactions = dict(value.split(b":") for value in values[len(POST_KINDS) :])
    return int(reactions.get(b"%d" % kind, 0))


# Only reactions have one. A byte is found eight times as fast as a text of one letter.
_COLON = ord(":")
post_counts = PostValues(
    "posts.counts:v2",
    ttl_s=86_400,
    load=_load,
    check=re.compile(rb"\d+,\d+,\d+,\d+(?:,\d+:\d+)*").fullmatch,
)


def ask_counts(
    ids: Sequence[PostId], existing: Collection[PostId]
) -> Question[dict[PostId, bytes]]:
    """JSON of the counts of these posts.

    `existing`: those of them that have a fragment, filled by the time of the answer: ids that a
    client makes up would create entries. Cost: at most one command. Counts that Redis lacks are
    read from the shards.
    """
    asked = by_number(ids)
    texts = post_counts.ask_uncopied(
        list(asked), lambda: {number for number, post_id in asked.items() if post_id in existing}
    )
    return texts.then(
        lambda loaded: {
            asked[number]: COUNTS % (*t.split(b","),) if _COLON not in t else _with_reactions(t)
            for number, t in loaded.items()
        }
    )


def _with_reactions(entry: bytes) -> bytes:
    *counts, reactions = entry.split(b",", len(POST_KINDS))
    return REACTION_COUNTS % (COUNTS % (*counts,), reactions)


def refresh_post_counts(ids: Iterable[PostId]) -> None:
    """Writes the current counts of these posts to Redis. One query per shard, one round trip.

    Raises: RedisError, so that the consumer runs again.
    """
    post_counts.refresh(_load(list(map(number_of, dict.fromkeys(ids)))))


def count_entries(counts: Mapping[Subject, Sequence[Count]]) -> dict[int, Versioned]:
    """The entries of these counts, which are in the order of ALL_KINDS."""
    return {number_of(PostId.at(*subject)): entry_of_post(own) for subject, own in counts.items()}


def store_no_responses(ids: Sequence[PostId], until: float) -> None:
    """Stores the counts of new posts, so that their first readers do not read them from the shard.

    Only before another process knows the posts: later they may have responses. So if Redis has them
    after `until`, by the monotonic clock, they are read all the same. Cost: a round trip, which it
    may share.
    """
    entry = entry_of_post([NONE_YET] * len(ALL_KINDS))
    post_counts.create(dict.fromkeys(map(number_of, ids), entry), NEW_S)
    run_together([], lambda _: _refresh_if_late(ids, until))


def _refresh_if_late(ids: Sequence[PostId], until: float) -> None:
    """For a process that was paused."""
    if ids and time.monotonic() > until:
        reached("posts.counts_created_late")
        refresh_post_counts(ids)
