"""Counts made wrong, as a bug or a restored shard would leave them."""

from counters.kinds import CounterKind
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

SPOIL = "UPDATE counters_counter SET value = value + %s WHERE owner_id = %s AND kind = %s"
LOSE = "DELETE FROM counters_counter WHERE owner_id = %s"


def spoil(owner_id: int, kind: CounterKind, by: int) -> None:
    """The row is there and says something else."""
    assert execute(shard_of(owner_id), SPOIL, (by, owner_id, int(kind))) == 1


def lose(owner_id: int) -> None:
    """All rows of counts are gone."""
    assert execute(shard_of(owner_id), LOSE, (owner_id,))
