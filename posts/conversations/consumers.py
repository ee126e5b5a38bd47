"""The consumers of conversations: they record direct posts for the accounts that they are for."""

from collections.abc import Callable, Sequence

from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from posts.changes import PostCreated, PostDeleted, PostEdited
from posts.conversations.actions.record_direct_posts import record_as_they_are
from posts.conversations.actions.update_conversations import OwnedPost
from posts.ids import PostId
from posts.types import Visibility

Deliveries = Sequence[Delivery[PostCreated | PostDeleted | PostEdited]]


@consumes(PostCreated, PostDeleted, PostEdited, inline=True)
def record_own_direct_posts(alias: str, deliveries: Deliveries) -> None:
    """Records direct posts for their authors, whose next read must show them.

    Cost: nothing for other posts; else two queries and one statement on the author's shard, four if
    a post is gone.
    """
    _record(alias, deliveries, _is_of_author)


@consumes(PostCreated, PostDeleted, PostEdited)
def record_direct_posts(alias: str, deliveries: Deliveries) -> None:
    """Records direct posts for the accounts that they mention, and removes those that are gone.

    Safety: idempotent, in any order: it reads the posts as they are now. Cost: nothing for other
    posts; else two queries, and up to five statements on each shard of these accounts.
    """
    if _record(alias, deliveries, lambda owned: not _is_of_author(owned)):
        failpoint("conversations.recorded")


def _record(alias: str, deliveries: Deliveries, is_chosen: Callable[[OwnedPost], bool]) -> bool:
    """False: there was no direct post."""
    named = _accounts_named(deliveries)
    if named:
        record_as_they_are(alias, named, is_chosen, _times_of(deliveries))
    return bool(named)


def _times_of(deliveries: Deliveries) -> dict[PostId, int]:
    """When the posts were written, in microseconds since 1970, by the clock of their shard."""
    return {
        PostId.at(delivery.owner_id, delivery.payload.moment): round(
            delivery.created_at.timestamp() * 1_000_000
        )
        for delivery in deliveries
        if isinstance(delivery.payload, PostCreated)
    }


def _accounts_named(deliveries: Deliveries) -> dict[PostId, set[int]]:
    """The accounts that each direct post mentions or mentioned."""
    named: dict[PostId, set[int]] = {}
    for delivery in deliveries:
        if delivery.payload.visibility == Visibility.DIRECT:
            mentioned = named.setdefault(
                PostId.at(delivery.owner_id, delivery.payload.moment), set()
            )
            mentioned.update(delivery.payload.mentioned)
            if isinstance(delivery.payload, PostEdited):
                mentioned.update(delivery.payload.mentioned_before)
    return named


def _is_of_author(owned: OwnedPost) -> bool:
    return owned.owner_id == owned.post_id.author_id
