"""What lies between a viewer and others, for Mastodon's Relationship entity."""

from collections.abc import Sequence
from typing import NamedTuple

from relations.queries.rows import BACKWARD, FORWARD, read_edges


class Relationship(NamedTuple):
    account_id: int
    following: bool
    followed_by: bool


def load_relationships(viewer_id: int, others: Sequence[int]) -> list[Relationship]:
    """One per other, in the order given. Two queries by key, both on the viewer's shard."""
    following = read_edges(FORWARD, viewer_id, others)
    followers = read_edges(BACKWARD, viewer_id, others)
    return [Relationship(other, other in following, other in followers) for other in others]
