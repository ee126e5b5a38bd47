"""What happened, as its sources have it now: the edges and posts on the actors' shard."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from counters.kinds import DECLARED
from infra.changes.registry import Delivery
from notifications.rules import ATTRIBUTES
from notifications.types import RESPONSE_OF, NotificationKind, Occurrence
from posts.changes import PostCreated, PostDeleted, PostEdited, PostMarked
from posts.external.ages import FRESH_S
from posts.ids import PostId
from posts.queries.reactions import does_notify
from posts.queries.responses import (
    find_live_posts,
    read_mark_responses,
    response_of,
    revision_of,
)
from posts.types import REACTIONS, Kind, ResponseRow, Target
from relations.queries.edges import Pair, load_forward_edges
from relations.types import Edge

PostPayload = PostCreated | PostDeleted | PostEdited
Interactions = Sequence[Delivery[PostPayload | PostMarked]]
KIND_OF_RESPONSE = {
    Kind.REPLY: NotificationKind.MENTION,
    Kind.CLOSED_REPLY: NotificationKind.MENTION,
    Kind.REPOST: NotificationKind.REBLOG,
    Kind.FAVOURITE: NotificationKind.FAVOURITE,
    Kind.QUOTE: NotificationKind.QUOTE,
    Kind.CLOSED_QUOTE: NotificationKind.QUOTE,
    **{Kind(number): NotificationKind(number) for number in DECLARED},
}


def read_follow_occurrences(alias: str, pairs: Iterable[Pair]) -> Iterator[Occurrence]:
    """Follows and requests of followers of one shard. One query.

    A quiet follow is a secret: it counts as no follow.
    """
    for pair, edge in load_forward_edges(alias, pairs).items():
        yield from occurrences_of_edge(pair, edge)


def occurrences_of_edge(pair: Pair, edge: Edge) -> Iterator[Occurrence]:
    """Both kinds, of which at most one is on."""
    for kind, attributes in ATTRIBUTES.items():
        is_on = edge.attribute in attributes
        yield Occurrence(pair[1], pair[0], kind, 0, 0, edge.since_ms, edge.revision, is_on)


def read_response_occurrences(alias: str, deliveries: Interactions) -> Iterator[Occurrence]:
    """Mentions, replies, reposts, reactions and quotes by accounts of one shard. At most two
    queries, and what `notifies` costs for declared reactions.

    A mention that an edit takes out stays: the post is still there.
    """
    marks, posts = set(), dict[PostId, list[PostPayload]]()
    for owner_id, payload in ((delivery.owner_id, delivery.payload) for delivery in deliveries):
        if isinstance(payload, PostMarked):
            if payload.mark in REACTIONS:
                marks.add((owner_id, payload.target_moment, payload.target_author, payload.mark))
        elif payload.mentioned or _target_of(payload) or _quoted_of(payload):
            posts.setdefault(PostId.at(owner_id, payload.moment), []).append(payload)
    live = find_live_posts(alias, list(posts)) if posts else set()
    for post_id, payloads in posts.items():
        for payload in payloads:
            yield from occurrences_of_post(post_id, payload, post_id in live)
    if marks:
        yield from filter(notifies, map(occurrence_of, read_mark_responses(alias, marks)))


class Happened(NamedTuple):
    """`history`: reactions that were given long before they were written: imports bring them."""

    news: list[Occurrence]
    history: list[Occurrence]


def split_history(occurrences: Iterable[Occurrence], deliveries: Interactions) -> Happened:
    """`deliveries`: those that the occurrences were read for."""
    written = {
        (owner_id, mark.target_moment, mark.target_author, mark.mark): written_at
        for owner_id, mark, written_at in _iter_marks(deliveries)
    }
    happened = Happened([], [])
    for occurrence in occurrences:
        kind = RESPONSE_OF.get(NotificationKind(occurrence.kind), Kind.POST)
        about = (occurrence.from_id, occurrence.post_moment, occurrence.post_author, kind)
        written_at = written.get(about)
        late_s = 0 if written_at is None else written_at.timestamp() - occurrence.at_ms / 1_000
        is_history = occurrence.is_on and late_s > FRESH_S
        (happened.history if is_history else happened.news).append(occurrence)
    return happened


def _iter_marks(deliveries: Interactions) -> Iterator[tuple[int, PostMarked, datetime]]:
    for delivery in deliveries:
        if isinstance(delivery.payload, PostMarked):
            yield delivery.owner_id, delivery.payload, delivery.created_at


def notifies(occurrence: Occurrence) -> bool:
    """Whether it may add a notification, or ends one: services say which of their reactions do.

    Raises, cost: as `does_notify`, for a declared reaction.
    """
    is_declared = occurrence.kind in DECLARED and occurrence.is_on
    return not is_declared or does_notify(occurrence.kind, occurrence.at_ms)


def occurrences_of_post(post_id: PostId, post: PostPayload, is_live: bool) -> Iterator[Occurrence]:
    """Of a reply or repost, of each mention, and of a quote. A reply that mentions is one
    occurrence, and a quote that mentions is two, as in Mastodon."""
    target = _target_of(post)
    if target is not None:
        yield occurrence_of(response_of(post_id, target, is_live))
    revision, at_ms = revision_of(post_id, is_live), post_id.posted_at_s * 1000
    about = (NotificationKind.MENTION, post_id.moment, post_id.author_id)
    for owner_id in post.mentioned:
        yield Occurrence(owner_id, post_id.author_id, *about, at_ms, revision, is_live)
    if quoted := _quoted_of(post):
        kind = NotificationKind.QUOTE
        yield Occurrence(quoted[0], post_id.author_id, kind, *about[1:], at_ms, revision, is_live)


def _target_of(post: PostPayload) -> Target | None:
    return None if isinstance(post, PostEdited) else post.target


def _quoted_of(post: PostPayload) -> tuple[int, int] | None:
    return None if isinstance(post, PostEdited) else post.quoted


def occurrence_of(response: ResponseRow) -> Occurrence:
    """What the author of the post is notified of. A reply or a quote is about itself."""
    kind, from_id = KIND_OF_RESPONSE[Kind(response.kind)], response.responder_id
    about = (response.moment, response.author_id)
    if kind in (NotificationKind.MENTION, NotificationKind.QUOTE):
        about = (response.reply_moment, from_id)
    at_ms = response.at
    if response.kind not in REACTIONS:
        at_ms = PostId.at(from_id, response.at).posted_at_s * 1000
    return Occurrence(
        response.author_id, from_id, kind, *about, at_ms, response.revision, response.is_on
    )
