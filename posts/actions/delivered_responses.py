"""Which responses to posts the delivered changes are about, as those responses are now."""

from collections.abc import Iterator, Sequence

from infra.changes.registry import Delivery
from posts.actions.record_responses import COUNTED
from posts.changes import PostCreated, PostDeleted, PostMarked, QuoteRevoked
from posts.ids import PostId
from posts.queries.responses import (
    read_mark_responses,
    read_post_responses,
    read_quote_responses,
)
from posts.types import Kind, ResponseRow

Interaction = PostCreated | PostDeleted | PostMarked | QuoteRevoked
Interactions = Sequence[Delivery[Interaction]]


def is_response(payload: Interaction) -> bool:
    """Whether it is of a response to a post that a count of the post includes."""
    if isinstance(payload, PostMarked):
        return payload.mark in COUNTED
    if isinstance(payload, QuoteRevoked):
        return True
    return payload.target is not None or payload.quoted is not None


def changes_viewer_state(payload: Interaction) -> bool:
    """Whether the account has another viewer state: it marked a post, or reposted one."""
    if isinstance(payload, PostMarked):
        return True
    if isinstance(payload, QuoteRevoked):
        return False
    return payload.target is not None and payload.target.kind == Kind.REPOST


def iter_responses(alias: str, deliveries: Interactions) -> Iterator[ResponseRow]:
    """The current responses of these deliveries. At most three queries on the responders' shard:
    what a mark has just written is known."""
    posts, quotes, marks = {}, {}, set()
    for delivery in deliveries:
        owner_id, payload = delivery.owner_id, delivery.payload
        if isinstance(payload, PostMarked):
            if not is_response(payload):
                continue
            if delivery.written is not None:
                yield delivery.written
            else:
                marks.add((owner_id, payload.target_moment, payload.target_author, payload.mark))
            continue
        post_id = PostId.at(owner_id, payload.moment)
        if payload.quoted is not None:
            quotes[post_id] = PostId.at(*payload.quoted)
        if not isinstance(payload, QuoteRevoked) and payload.target is not None:
            posts[post_id] = payload.target
    if posts:
        yield from read_post_responses(alias, list(posts.items()))
    if quotes:
        yield from read_quote_responses(alias, list(quotes.items()))
    if marks:
        yield from read_mark_responses(alias, marks)
