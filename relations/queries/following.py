"""The whole following list, for whoever needs all followees at once (pull, rules)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cachebox import LRUCache
from redis.exceptions import RedisError

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import Command
from infra.caching.lists import NEWEST, WHOLE, read_mark, version_of
from infra.sharding.buckets import shard_of
from relations.cache import FOLLOWING, member_of
from relations.queries.fills import lay_following
from relations.queries.held import Held, read_whole

MARKS = (WHOLE, NEWEST)
# What pages asked lately, so that a reader's next page need not ask again.
KNOWN_READERS = 10_000
MOST_KNOWN = 200


class Following(NamedTuple):
    """An account's followees, and a version the list is not older than."""

    version: int
    followee_ids: list[int]


class Follows(NamedTuple):
    """Whether an account follows others, as its following list of this version says."""

    version: int
    answers: Mapping[int, bool]


_known: LRUCache[int, Follows] = LRUCache(KNOWN_READERS)


def load_following(account_id: int) -> Following:
    """All followees, newest first. Cost: one round trip; on a miss two queries and a second one."""
    held = _find_held(account_id) or lay_following(account_id).all()
    return Following(held.version, [listed.account_id for listed in held.items])


def _find_held(account_id: int) -> Held | None:
    try:
        return read_whole(FOLLOWING, account_id)
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


def read_follows(account_id: int, others: Sequence[int], replies: Sequence[Any]) -> Follows:
    """The answers to `follows_commands`.

    A list that is not cached is laid again, or a reader whose list ran out would never be warm:
    two queries and a round trip.
    """
    (scores,) = replies
    marks = [score for score in scores[: len(MARKS)] if score is not None]
    if not marks:
        held = lay_following(account_id).all()
        followed = {listed.account_id for listed in held.items}
        return Follows(held.version, {other: other in followed for other in others})
    found = zip(others, scores[len(MARKS) :], strict=True)
    answers = {other: score is not None for other, score in found}
    return Follows(version_of(int(marks[0])), answers)


def find_known_follows(account_id: int, version: int) -> Mapping[int, bool]:
    """What this process knows of a following list at exactly this version; no round trip."""
    known = _known.get(account_id)
    return known.answers if known is not None and known.version == version else {}


def keep_follows(account_id: int, follows: Follows) -> None:
    """Remembers answers beside those of the same version."""
    known = find_known_follows(account_id, follows.version)
    kept = {**known, **follows.answers} if len(known) < MOST_KNOWN else follows.answers
    _known[account_id] = Follows(follows.version, kept)
