"""Removes deleted posts from the recent-posts index, so that pulls have fewer rows to skip."""

from collections.abc import Sequence

from infra.changes.registry import Delivery, consumes
from posts.changes import PostDeleted
from posts.ids import PostId
from timelines.recent.factory import recent_index


@consumes(PostDeleted)
def remove_from_recent_index(alias: str, deliveries: Sequence[Delivery[PostDeleted]]) -> None:
    """Removes the posts. Cost: as the index.

    It does not wait for other shards: pages skip a row that stays, until its day is dropped.
    """
    deleted = [PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries]
    recent_index().remove(deleted)
