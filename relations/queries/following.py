"""The whole following list, for whoever needs all followees at once (pull, rules)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import Command, redis
from infra.caching.lists import read_items, read_mark
from infra.sharding.buckets import shard_of
from relations.cache import FOLLOWING, account_of, member_of
from relations.queries.lists import FOLLOWING_LIST, fill
from relations.queries.rows import FORWARD, read_edges


class Following(NamedTuple):
    """An account's followees, and a version the list is not older than."""

    version: int
    followee_ids: list[int]


def load_following(account_id: int) -> Following:
    """All followees. Cost: one Redis round trip; on a miss two queries and a second trip."""
    commands = [
        FOLLOWING.mark_command(account_id),
        FOLLOWING.newest_command(account_id, None, FOLLOWING.max_items),
    ]
    try:
        mark_reply, reply = redis().run(commands)
    except RedisError:
        mark_reply, reply = [], []
    mark = read_mark(mark_reply)
    if mark is None:
        version = read_following_version(account_id)
        return Following(version, [listed.account_id for listed in fill(FOLLOWING_LIST, account_id)])
    return Following(mark.version, [account_of(item.member) for item in read_items(reply)])


def read_following_version(account_id: int) -> int:
    """The version of the following list, from its shard. One query."""
    counts = read_counts(shard_of(account_id), [account_id], [CounterKind.FOLLOWING])
    return counts[account_id][CounterKind.FOLLOWING].version


def version_command(account_id: int) -> Command:
    """For gathering into a larger round trip; reply for `read_version`."""
    return FOLLOWING.mark_command(account_id)


def read_version(reply: Any) -> int | None:
    """None: the list is not cached."""
    mark = read_mark(reply)
    return mark.version if mark else None


def follows_commands(account_id: int, others: Sequence[int]) -> list[Command]:
    """Whether an account follows each of `others`; replies for `read_follows`."""
    return [
        FOLLOWING.mark_command(account_id),
        FOLLOWING.scores_command(account_id, [member_of(other) for other in others]),
    ]


def read_follows(account_id: int, others: Sequence[int], replies: Sequence[Any]) -> set[int]:
    """Those of `others` that are followed. A list missing in Redis costs one query."""
    mark_reply, scores = replies
    if read_mark(mark_reply) is None:
        return read_edges(FORWARD, account_id, others)
    return {other for other, score in zip(others, scores, strict=True) if score is not None}
