"""What lies between a viewer and others (standings): from Redis, else from the viewer's shard."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self

from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.cache import STANDINGS
from relations.types import STRANGER, Standing

READ = """
SELECT other.id, coalesce(mine.attribute, 0), coalesce(mine.flags, 0),
    coalesce(theirs.attribute, 0), coalesce(mute.is_on, false),
    coalesce(mute.hides_notifications, false), coalesce(mute.until_ms, 0)
FROM unnest(%(others)s::bigint[]) AS other (id)
LEFT JOIN relations_forwardedge mine
    ON mine.follower_id = %(viewer)s AND mine.followee_id = other.id
LEFT JOIN relations_backwardedge theirs
    ON theirs.followee_id = %(viewer)s AND theirs.follower_id = other.id
LEFT JOIN relations_muted mute ON mute.owner_id = %(viewer)s AND mute.target_id = other.id
"""
RELATED = """
SELECT followee_id FROM relations_forwardedge WHERE follower_id = %(viewer)s AND attribute <> 0
UNION ALL
SELECT follower_id FROM relations_backwardedge WHERE followee_id = %(viewer)s AND attribute <> 0
UNION ALL
SELECT target_id FROM relations_muted WHERE owner_id = %(viewer)s AND is_on
LIMIT %(most)s
"""


class Standings(NamedTuple):
    """Standings by account, and the stamp under which they hold; None: do not remember them.

    `heard`: most of those that a reader asks for, found once instead of at each of their posts.
    """

    stamp: bytes | None
    of: Mapping[int, Standing]
    heard: frozenset[int]

    @classmethod
    def learnt(cls, stamp: bytes | None, of: Mapping[int, Standing]) -> Self:
        return cls(stamp, of, frozenset(i for i, standing in of.items() if standing.is_heard))

    def beside(self, others: Self) -> Self:
        """With the others', under the stamp of these."""
        return type(self)(self.stamp, {**self.of, **others.of}, self.heard | others.heard)


NONE_KNOWN = Standings.learnt(None, {})


def load_standings(viewer_id: int, others: Iterable[int]) -> Mapping[int, Standing]:
    """One per other, in the order given, each once; at most 1,000. Oneself is a stranger.

    Cost: one round trip when warm; for misses one query by primary keys, without a filter one more,
    and one more trip. With Redis away one query.
    """
    wanted = list(dict.fromkeys(others))
    if not wanted:
        return {}
    try:
        reply = redis().call(*ask_command(viewer_id, wanted))
    except RedisError:
        reply = None
    return complete_standings(viewer_id, wanted, reply).of


def ask_command(viewer_id: int, others: Sequence[int]) -> Command:
    """For gathering into a larger round trip; reply for `complete_standings`."""
    return STANDINGS.read_command(viewer_id, others)


def complete_standings(viewer_id: int, others: Sequence[int], reply: Any | None) -> Standings:
    """Answers from the reply to `ask_command`, None without Redis. Cost: as `load_standings`."""
    if reply is None:
        return Standings.learnt(None, _read(viewer_id, others))
    reading = STANDINGS.read(others, reply)
    unknown, made = reading.unknown, None
    if unknown and reading.filter_data is None:
        made = STANDINGS.make_filter(_read_related(viewer_id))
        unknown = STANDINGS.rule_out(made, unknown)
    loaded = _read(viewer_id, unknown) if unknown else {}
    if loaded or made is not None:
        failpoint("standings.read")
        packed = {other: standing.packed for other, standing in loaded.items()}
        with suppress(RedisError):  # the next reader tries again
            redis().call(*STANDINGS.write_command(viewer_id, reading, packed, made))
    found = {other: Standing.from_packed(text) for other, text in reading.found.items()} | loaded
    return Standings.learnt(reading.validator, {i: found.get(i, STRANGER) for i in others})


def _read(viewer_id: int, others: Sequence[int]) -> dict[int, Standing]:
    """From the viewer's shard, all facts of one moment."""
    params = {"viewer": viewer_id, "others": list(others)}
    rows = fetch_all(shard_of(viewer_id), READ, params)
    return {other: Standing.of_rows(*facts) for other, *facts in rows}


def _read_related(viewer_id: int) -> list[int]:
    """Everybody there is anything with, some twice; of too many only so many that it shows."""
    params = {"viewer": viewer_id, "most": STANDINGS.max_filtered + 1}
    return [row[0] for row in fetch_all(shard_of(viewer_id), RELATED, params)]
