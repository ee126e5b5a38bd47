"""Consumers of notifications: they write what happened to the recipients' shards."""

from collections.abc import Sequence

from infra.changes.registry import Delivery, FollowUp, consumes
from notifications.actions.note_imported import note_imported
from notifications.actions.notify import (
    BEGINNING,
    announce_ends,
    notify,
    notify_few_subscribers,
    notify_next_quoting,
    notify_next_subscribers,
)
from notifications.changes import QuotingLeft, SubscribersLeft, VotersLeft
from notifications.queries.actor_sources import (
    Interactions,
    occurrence_of,
    read_follow_occurrences,
    read_response_occurrences,
    split_history,
)
from notifications.queries.rows import Threads, without_muted
from notifications.queries.subscribers import find_new_posts, new_post_of
from posts.changes import (
    PollClosed,
    PostCreated,
    PostDeleted,
    PostEdited,
    PostMarked,
    PostsImported,
)
from posts.external.queries.posts import load_imported
from posts.ids import PostId
from posts.queries.responses import find_answered, response_of
from posts.queries.threads import thread_of
from posts.types import Kind
from relations.changes import EdgeChanged, FollowsImported


@consumes(EdgeChanged)
def notify_of_follows(alias: str, deliveries: Sequence[Delivery[EdgeChanged]]) -> list[FollowUp]:
    """Adds and ends notifications of follows and of requests to follow.

    Safety: as `write_notifications`. Cost: one query, and one round trip to each recipient's shard.
    """
    return notify(
        read_follow_occurrences(alias, {(d.owner_id, d.payload.followee_id) for d in deliveries})
    )


@consumes(PostCreated, PostDeleted, PostEdited, PostMarked)
def notify_of_interactions(alias: str, deliveries: Interactions) -> list[FollowUp]:
    """Adds and ends notifications of mentions, replies, reposts and reactions.

    Imported reactions of long ago notify of nothing. Safety: as `write_notifications`. Cost: two
    queries, and one round trip to each recipient's shard; also what `without_muted` costs.
    """
    happened = read_response_occurrences(alias, deliveries)
    news, history = split_history(happened, deliveries)
    note_imported(history)
    return notify(without_muted(news, _threads_of(deliveries)))


@consumes(FollowsImported)
def note_imported_follows(alias: str, deliveries: Sequence[Delivery[FollowsImported]]) -> None:
    """Imported follows notify of nothing, later neither. Safety, cost: as `note_imported`, and a
    query."""
    pairs = {pair for delivery in deliveries for pair in delivery.payload.pairs}
    note_imported(read_follow_occurrences(alias, pairs))


@consumes(PostsImported)
def note_imported_responses(alias: str, deliveries: Sequence[Delivery[PostsImported]]) -> None:
    """As `note_imported_follows`, for answers and reposts. A new answer is a post made here too."""
    for delivery in deliveries:
        note_imported(
            occurrence_of(response_of(PostId.at(row.author_id, row.moment), row.target, True))
            for row in load_imported(delivery.payload)
            if row.target is not None
        )


@consumes(PostCreated)
def notify_subscribers(alias: str, deliveries: Sequence[Delivery[PostCreated]]) -> list[FollowUp]:
    """Notifies followers who asked for it of new posts.

    Safety: as `write_notifications`. Cost: as `notify_few_subscribers`, and one query.
    """
    return notify_few_subscribers(alias, find_new_posts(alias, deliveries))


@consumes(SubscribersLeft)
def notify_subscribers_left(
    alias: str, deliveries: Sequence[Delivery[SubscribersLeft]]
) -> list[FollowUp]:
    """Notifies a page of the many subscribers of an account.

    Safety and cost: as `notify_next_subscribers`.
    """
    return [
        follow_up
        for delivery in deliveries
        for follow_up in notify_next_subscribers(
            new_post_of(delivery.owner_id, delivery.payload), delivery.payload.below
        )
    ]


@consumes(PostEdited)
def notify_of_edited_quotes(
    alias: str, deliveries: Sequence[Delivery[PostEdited]]
) -> list[FollowUp]:
    """Begins to notify the authors of posts that quote edited posts. Safety: idempotent. Cost: one
    query by index."""
    edited = {PostId.at(d.owner_id, d.payload.moment): d.created_at for d in deliveries}
    quoted = find_answered(alias, list(edited), [Kind.QUOTE, Kind.CLOSED_QUOTE])
    return [
        FollowUp(i.author_id, QuotingLeft(i.moment, int(edited[i].timestamp() * 1000)))
        for i in quoted
    ]


@consumes(QuotingLeft)
def notify_quoting_left(alias: str, deliveries: Sequence[Delivery[QuotingLeft]]) -> list[FollowUp]:
    """Notifies of a page of the posts that quote a post. Safety, cost: as `notify_next_quoting`."""
    return [
        follow_up
        for delivery in deliveries
        for follow_up in notify_next_quoting(delivery.owner_id, delivery.payload)
    ]


@consumes(PollClosed)
def notify_of_ended_polls(alias: str, deliveries: Sequence[Delivery[PollClosed]]) -> list[FollowUp]:
    """Notifies the authors and the first voters of polls that ended.

    Safety and cost: as `announce_ends`.
    """
    ended = [PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries]
    return announce_ends(alias, dict.fromkeys(ended, BEGINNING))


@consumes(VotersLeft)
def notify_voters_left(alias: str, deliveries: Sequence[Delivery[VotersLeft]]) -> list[FollowUp]:
    """Notifies the next voters of polls with very many. Safety and cost: as `announce_ends`."""
    return [
        follow_up
        for delivery in deliveries
        for follow_up in announce_ends(
            alias, {PostId.at(delivery.owner_id, delivery.payload.moment): delivery.payload.after}
        )
    ]


def _threads_of(deliveries: Interactions) -> Threads:
    return {
        (post_id := PostId.at(delivery.owner_id, delivery.payload.moment)): thread_of(
            post_id, delivery.payload
        )
        for delivery in deliveries
        if isinstance(delivery.payload, PostCreated | PostEdited)
    }
