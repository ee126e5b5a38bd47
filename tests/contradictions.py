"""A relationship as one side reads it, from the rows and from the API, without contradictions."""

from typing import NamedTuple

import orjson

from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.api.present import present_relationship
from relations.queries.relationships import load_existing_relationships
from relations.types import FOLLOWS, Attribute

# One statement, one snapshot.
ROWS = """
SELECT
    (SELECT attribute FROM relations_forwardedge WHERE follower_id = %(a)s AND followee_id = %(b)s),
    (SELECT attribute FROM relations_backwardedge WHERE followee_id = %(a)s AND follower_id = %(b)s)
"""


class Sides(NamedTuple):
    following: bool
    followed_by: bool
    blocking: bool
    blocked_by: bool

    @property
    def is_contradiction(self) -> bool:
        """A block and a follow at the same time, in any direction."""
        return (self.blocking or self.blocked_by) and (self.following or self.followed_by)


def rows_seen_by(viewer: int, other: int) -> Sides:
    row = fetch_one(shard_of(viewer), ROWS, {"a": viewer, "b": other}) or (None, None)
    mine, theirs = (Attribute(value or 0) for value in row)
    black = Attribute.BLACK
    return Sides(mine in FOLLOWS, theirs in FOLLOWS, mine is black, theirs is black)


def shown_to(viewer: int, other: int) -> Sides:
    """As the API answers, through the caches."""
    relationship = load_existing_relationships(viewer, [other])[other]
    entity = orjson.loads(present_relationship(other, relationship, now_ms()))
    return Sides(*(entity[name] for name in Sides._fields))


def assert_no_contradiction(viewer: int, other: int) -> None:
    for read in (rows_seen_by, shown_to):
        seen = read(viewer, other)
        assert not seen.is_contradiction, (read.__name__, viewer, other, seen)
