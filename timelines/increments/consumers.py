"""Consumers that announce posts and changed relations to the last-post indexes of all machines."""

from collections.abc import Sequence

from infra.caching.client import redis
from infra.changes.registry import Delivery, consumes
from posts.changes import PostCreated
from posts.ids import PostId
from relations.changes import EdgeChanged, MuteChanged
from timelines.increments.followees import forget_followees
from timelines.increments.stream import posts_command, readers_command

RelationChanges = Sequence[Delivery[EdgeChanged | MuteChanged]]


@consumes(PostCreated)
def publish_posts(alias: str, deliveries: Sequence[Delivery[PostCreated]]) -> None:
    """Adds published posts to the stream: every machine's index has them within a second.

    Runs after the pushes, except those of big fan-outs. Safety: may run again, because an index
    keeps the latest post. Cost: one round trip, 10 bytes per post.
    """
    redis().call(*posts_command(PostId.at(d.owner_id, d.payload.moment) for d in deliveries))


@consumes(EdgeChanged, MuteChanged)
def publish_relation_changes(alias: str, deliveries: RelationChanges) -> None:
    """Makes every process load the followees of these accounts again. Cost: one round trip."""
    redis().call(*readers_command(_affected_accounts(deliveries)))


@consumes(EdgeChanged, MuteChanged, inline=True)
def forget_own_followees(alias: str, deliveries: RelationChanges) -> None:
    """The acting process forgets the followees at once, so that its next read is up to date."""
    for reader_id in _affected_accounts(deliveries):
        forget_followees(reader_id)


def _affected_accounts(deliveries: RelationChanges) -> set[int]:
    """Both sides: a block also ends the follow of the other side."""
    return {i for d in deliveries for i in (d.owner_id, _other_side(d.payload))}


def _other_side(change: EdgeChanged | MuteChanged) -> int:
    return change.followee_id if isinstance(change, EdgeChanged) else change.target_id
