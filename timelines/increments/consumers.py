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

    Reposts, replies and posts with mentions are marked: some homes leave them out. Not direct
    posts: they are in no timeline, and the answer must not tell that there are any.
    Runs after the pushes, except those of big fan-outs. Safety: may run again, because an index
    keeps the latest post. Cost: one round trip, 11 bytes per post.
    """
    shown = {
        PostId.at(delivery.owner_id, delivery.payload.moment): delivery.payload
        for delivery in deliveries
        if delivery.payload.visibility != Visibility.DIRECT
    }
    unsure = {i for i, change in shown.items() if change.target or change.mentioned}
    add_to_stream([*shown], unsure)
