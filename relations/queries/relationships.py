"""What lies between a viewer and others, for Mastodon's Relationship entity."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all

READ = """
SELECT other.id, coalesce(forward.attribute, 0) IN (1, 2), coalesce(backward.attribute, 0) IN (1, 2)
FROM unnest(%(others)s::bigint[]) WITH ORDINALITY AS other (id, place)
LEFT JOIN relations_forwardedge forward
    ON forward.follower_id = %(viewer)s AND forward.followee_id = other.id
LEFT JOIN relations_backwardedge backward
    ON backward.followee_id = %(viewer)s AND backward.follower_id = other.id
ORDER BY other.place
"""


class Relationship(NamedTuple):
    account_id: int
    following: bool
    followed_by: bool


def load_relationships(viewer_id: int, others: Sequence[int]) -> list[Relationship]:
    """One per other, in the order given. One query by primary keys, on the viewer's shard."""
    params = {"viewer": viewer_id, "others": list(others)}
    return [Relationship(*row) for row in fetch_all(shard_of(viewer_id), READ, params)]
