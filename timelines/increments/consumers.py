"""The consumer that announces posts to the last-post indexes of all machines."""

from collections.abc import Sequence

from infra.changes.registry import Delivery, consumes
from posts.changes import PostCreated
from posts.ids import PostId
from posts.types import Visibility
from timelines.increments.post_stream import add_to_stream


@consumes(PostCreated)
def stream_posts(alias: str, deliveries: Sequence[Delivery[PostCreated]]) -> None:
    """Adds published posts to the stream: every machine's index has them within a second.

    Not direct posts: they are in no timeline, and the answer must not tell that there are any.
    Runs after the pushes, except those of big fan-outs. Safety: may run again, because an index
    keeps the latest post. Cost: one round trip, 10 bytes per post.
    """
    add_to_stream(
        PostId.at(delivery.owner_id, delivery.payload.moment)
        for delivery in deliveries
        if delivery.payload.visibility != Visibility.DIRECT
    )
