"""The whole following list, for whoever needs all followees at once (pull, rules)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import Command
from infra.caching.lists import NEWEST, WHOLE, read_mark
from infra.sharding.buckets import shard_of
from relations.cache import FOLLOWING, member_of
from relations.queries.lists import FOLLOWING_LIST, Held, fill, read_held

MARKS = (WHOLE, NEWEST)


class Following(NamedTuple):
    """An account's followees, and a version the list is not older than."""

    version: int
    followee_ids: list[int]


def load_following(account_id: int) -> Following:
    """All followees, newest first. Cost: one round trip; on a miss two queries and a second one."""
    held = _find_held(account_id) or fill(FOLLOWING_LIST, account_id)
    return Following(held.version, [listed.account_id for listed in held.items])


def _find_held(account_id: int) -> Held | None:
    try:
        return read_held(FOLLOWING, account_id, None, FOLLOWING.max_items)
    except RedisError:
        return None


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
    """Whether an account follows each of `others`; replies for `read_follows`.

    The marks are asked in the same command: of a list dropped between two, nobody would seem
    to be followed.
    """
    members = [member_of(other) for other in others]
    return [FOLLOWING.scores_command(account_id, [*MARKS, *members])]


def read_follows(account_id: int, others: Sequence[int], replies: Sequence[Any]) -> set[int]:
    """Those of `others` that are followed.

    A list that is not cached is laid again, or a reader whose list ran out would never be warm:
    two queries and a round trip.
    """
    (scores,) = replies
    is_cached = any(score is not None for score in scores[: len(MARKS)])
    if not is_cached:
        followed = {listed.account_id for listed in fill(FOLLOWING_LIST, account_id).items}
        return followed.intersection(others)
    found = zip(others, scores[len(MARKS) :], strict=True)
    return {other for other, score in found if score is not None}
