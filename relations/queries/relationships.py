"""What lies between a viewer and others (relationships): from Redis or the shard."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self

from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.cache import RELATIONSHIPS
from relations.types import UNRELATED, Relationship

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


class Relationships(NamedTuple):
    """Relationships by account.

    `validator`: they hold for as long as Redis has this one; None: do not remember them.
    `clear_follows`: accounts that the viewer follows, without any mute or block. Most entries of a
    home page are theirs, so the set is made once instead of at each entry.
    """

    validator: bytes | None
    by_account: Mapping[int, Relationship]
    clear_follows: frozenset[int]

    @classmethod
    def build(cls, validator: bytes | None, by_account: Mapping[int, Relationship]) -> Self:
        clear = (i for i, relationship in by_account.items() if relationship.is_clear_follow)
        return cls(validator, by_account, frozenset(clear))

    def merged_with(self, others: Self) -> Self:
        """Both together, under this validator."""
        by_account = {**self.by_account, **others.by_account}
        return type(self)(self.validator, by_account, self.clear_follows | others.clear_follows)


NO_RELATIONSHIPS = Relationships.build(None, {})


def load_relationships(viewer_id: int, others: Iterable[int]) -> Mapping[int, Relationship]:
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
    return complete_relationships(viewer_id, wanted, reply).by_account


def ask_command(viewer_id: int, others: Sequence[int]) -> Command:
    """For gathering into a larger round trip; reply for `complete_relationships`."""
    return RELATIONSHIPS.read_command(viewer_id, others)


def complete_relationships(
    viewer_id: int, others: Sequence[int], reply: Any | None
) -> Relationships:
    """From the reply to `ask_command`, None without Redis. Cost: as `load_relationships`."""
    if reply is None:
        return Relationships.build(None, _read(viewer_id, others))
    reading = RELATIONSHIPS.read(others, reply)
    unknown, made = reading.unknown, None
    if unknown and reading.filter_data is None:
        made = RELATIONSHIPS.make_filter(_read_related(viewer_id))
        unknown = RELATIONSHIPS.rule_out(made, unknown)
    loaded = _read(viewer_id, unknown) if unknown else {}
    if loaded or made is not None:
        failpoint("relationships.read")
        packed = {other: relationship.packed for other, relationship in loaded.items()}
        with suppress(RedisError):  # the next reader tries again
            redis().call(*RELATIONSHIPS.write_command(viewer_id, reading, packed, made))
    found = {
        other: Relationship.from_packed(text) for other, text in reading.found.items()
    } | loaded
    return Relationships.build(reading.validator, {i: found.get(i, UNRELATED) for i in others})


def _read(viewer_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    """From the viewer's shard, all facts of one moment."""
    params = {"viewer": viewer_id, "others": list(others)}
    rows = fetch_all(shard_of(viewer_id), READ, params)
    return {other: Relationship.of_rows(*facts) for other, *facts in rows}


def _read_related(viewer_id: int) -> list[int]:
    """Everybody there is anything with, some twice; of too many only so many that it shows."""
    params = {"viewer": viewer_id, "most": RELATIONSHIPS.max_filtered + 1}
    return [row[0] for row in fetch_all(shard_of(viewer_id), RELATED, params)]
