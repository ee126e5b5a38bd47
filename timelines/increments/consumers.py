"""What increments do with changes: tell the indexes of all machines."""

from collections.abc import Sequence

from infra.caching.client import redis
from infra.changes.registry import Delivery, consumes
from posts.changes import PostCreated
from posts.ids import PostId
from relations.changes import EdgeChanged, MuteChanged
from timelines.increments.followees import forget_followees
from timelines.increments.stream import posts_command, readers_command

Posted = Sequence[Delivery[PostCreated]]
Related = Sequence[Delivery[EdgeChanged | MuteChanged]]


@consumes(PostCreated)
def publish_posts(alias: str, deliveries: Posted) -> None:
    """All indexes know within a second. Runs after the pushes, those of big fan-outs apart.

    Safety: may run again, indexes keep the latest. Cost: one round trip, 10 bytes a post.
    """
    redis().call(*posts_command(PostId.at(d.owner_id, d.payload.moment) for d in deliveries))


@consumes(EdgeChanged, MuteChanged)
def publish_relation_changes(alias: str, deliveries: Related) -> None:
    """No process goes by what it remembers of these people's followees. One round trip."""
    redis().call(*readers_command(_concerned(deliveries)))


@consumes(EdgeChanged, MuteChanged, inline=True)
def forget_own_followees(alias: str, deliveries: Related) -> None:
    """Nor does the process that acted, from its own next read on."""
    for reader_id in _concerned(deliveries):
        forget_followees(reader_id)


def _concerned(deliveries: Related) -> set[int]:
    """Both sides: a block ends what the other side follows."""
    return {i for d in deliveries for i in (d.owner_id, _other(d.payload))}


def _other(news: EdgeChanged | MuteChanged) -> int:
    return news.followee_id if isinstance(news, EdgeChanged) else news.target_id
