"""Makes happenings of delivered changes."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import structlog

from infra.changes.feed import FiledChange
from infra.changes.registry import read_payload
from moderation.changes import StrikeRecorded
from notifications.changes import QuotingLeft, SubscribersLeft, VotersLeft
from notifications.queries.actor_sources import KIND_OF_RESPONSE
from notifications.types import NotificationKind
from posts.changes import (
    PoliciesChanged,
    PollClosed,
    PostCreated,
    PostDeleted,
    PostEdited,
    PostHidden,
    PostImagesChanged,
    PostMarked,
    QuoteRevoked,
)
from posts.filters.changes import FiltersEdited
from posts.ids import PostId
from posts.queries.threads import thread_of
from posts.types import REACTIONS, Kind, Visibility
from relations.changes import EdgeChanged
from timelines.tags.changes import FollowedTagsChanged
from web.streaming.happenings.notifications import (
    ANY,
    ConversationChanged,
    FiltersChanged,
    Notified,
)
from web.streaming.happenings.posts import (
    EDITED,
    NEW,
    PostGone,
    PostModerated,
    PostPlaces,
    PostRetagged,
    PostShown,
    places_of,
)
from web.streaming.happenings.types import Happening

log = structlog.get_logger()
_ENDED_POLLS = (NotificationKind.POLL,)
_EDITED_QUOTES = (NotificationKind.QUOTED_UPDATE,)
_WARNINGS = (NotificationKind.MODERATION_WARNING,)


def read_happenings(change: FiledChange) -> list[Happening]:
    """None for most kinds. A change of another shape, after a way back to this release, is left
    out: it must not stop the streams."""
    read = _READERS.get(change.kind)
    if read is None:
        return []
    try:
        return read(change.owner_id, read_payload(change.kind, change.payload))
    except msgspec.ValidationError as error:
        log.warning("streaming.change_unknown", change=change.id, error=str(error))
        return []


def find_follow(change: FiledChange) -> tuple[int, int] | None:
    """Follower and followee, if the change is about a follow."""
    if change.kind != EdgeChanged.kind:
        return None
    payload: Any = read_payload(change.kind, change.payload)
    return change.owner_id, payload.followee_id


def find_retagged(change: FiledChange) -> int | None:
    """The account whose home tags may be others, if the change is about that."""
    return change.owner_id if change.kind == FollowedTagsChanged.kind else None


def _created(author_id: int, change: PostCreated) -> list[Happening]:
    post_id, target = PostId.at(author_id, change.moment), change.target
    notified = dict.fromkeys(change.mentioned, ANY)
    if target is not None:
        notified[target.post_id.author_id] = ANY
    if change.quoted is not None:
        notified[change.quoted[0]] = ANY
    if change.visibility == Visibility.DIRECT:
        accounts = [author_id, *change.mentioned]
        return [ConversationChanged(thread_of(post_id, change), accounts), Notified(notified)]
    original = target.post_id if target and target.kind == Kind.REPOST else post_id
    places = places_of(author_id, change.visibility, change.tags, target)
    return [PostShown(NEW, post_id, original, places), Notified(notified, author_id)]


def _edited(author_id: int, change: PostEdited) -> list[Happening]:
    """Who was mentioned before still has the notification, and its post."""
    post_id = PostId.at(author_id, change.moment)
    notified = Notified(dict.fromkeys(change.mentioned, ANY))
    named = (*change.mentioned, *change.mentioned_before)
    if change.visibility == Visibility.DIRECT:
        accounts = [author_id, *change.mentioned]
        places = PostPlaces(is_at_home=False, named=(author_id, *named))
        told = PostShown(EDITED, post_id, post_id, places)
        return [ConversationChanged(thread_of(post_id, change), accounts), told, notified]
    if change.visibility != Visibility.PUBLIC:
        return [PostShown(EDITED, post_id, post_id, PostPlaces(named=named)), notified]
    lost = {*change.tags_before} - {*change.tags}
    places = PostPlaces(tags=change.tags, named=named)
    return [PostRetagged(post_id, places, lost, change.lost_media), notified]


def _deleted(author_id: int, change: PostDeleted) -> list[Happening]:
    places = places_of(author_id, change.visibility, change.tags, change.target)
    named = (author_id, *change.mentioned)
    return [PostGone(PostId.at(author_id, change.moment), places._replace(named=named))]


def _hidden(author_id: int, change: PostHidden) -> list[Happening]:
    visibility = Visibility(change.visibility)
    return [PostModerated(PostId.at(author_id, change.moment), visibility)]


def _rewritten(
    author_id: int, change: PostImagesChanged | QuoteRevoked | PoliciesChanged
) -> list[Happening]:
    return [PostModerated(PostId.at(author_id, change.moment), None)]


def _marked(owner_id: int, change: PostMarked) -> list[Happening]:
    if change.mark not in REACTIONS:
        return []
    kind = KIND_OF_RESPONSE[Kind(change.mark)]
    return [Notified({change.target_author: (kind,)})]


def _edge_changed(owner_id: int, change: EdgeChanged) -> list[Happening]:
    kinds = (NotificationKind.FOLLOW, NotificationKind.FOLLOW_REQUEST)
    return [Notified({change.followee_id: kinds})]


def _polls_ended(owner_id: int, change: PollClosed | VotersLeft) -> list[Happening]:
    """The voters are not known here."""
    return [Notified({}, all_of=_ENDED_POLLS)]


_READERS: Mapping[str, Callable[[int, Any], list[Happening]]] = {
    PostCreated.kind: _created,
    PostEdited.kind: _edited,
    PostDeleted.kind: _deleted,
    PostHidden.kind: _hidden,
    PostImagesChanged.kind: _rewritten,
    QuoteRevoked.kind: _rewritten,
    PoliciesChanged.kind: _rewritten,
    PostMarked.kind: _marked,
    EdgeChanged.kind: _edge_changed,
    PollClosed.kind: _polls_ended,
    VotersLeft.kind: _polls_ended,
    QuotingLeft.kind: lambda *_: [Notified({}, all_of=_EDITED_QUOTES)],
    SubscribersLeft.kind: lambda author_id, _: [Notified({}, followers_of=author_id)],
    StrikeRecorded.kind: lambda owner_id, _: [Notified({owner_id: _WARNINGS})],
    FiltersEdited.kind: lambda owner_id, _: [FiltersChanged(owner_id)],
}
