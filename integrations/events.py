"""The events that other systems read, made from delivered changes.

An event says what changed and not what it is like now: a system that needs the post or the profile
reads it from the API. So no event shows what was deleted since. Relations and marks are the
exception: their change does not say whether they began or ended, so the event has their present
state.

Left out: what is private to one account (mutes, notes, bookmarks, filters, lists), and what
Tideline tells itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import structlog

from accounts.changes import AccountRestricted, ProfileChanged, UserCreated, UserRestricted
from counters.kinds import DECLARED
from infra.changes.feed import FiledChange
from infra.changes.registry import Payload, read_payload
from integrations.types import Event
from posts.changes import (
    PollClosed,
    PollVoted,
    PostCreated,
    PostDeleted,
    PostEdited,
    PostHidden,
    PostImagesChanged,
    PostMarked,
    PostsImported,
    QuoteRevoked,
)
from posts.ids import PostId
from posts.queries.marks import ViewerMarkKey, load_marks
from posts.queries.reactions import find_reaction_name
from posts.types import REACTIONS, Kind, Target, Visibility
from relations.changes import EdgeChanged, FollowsImported
from relations.queries.edges import Pair, load_edges
from relations.types import NO_EDGE, Attribute, Edge

log = structlog.get_logger()
Data = dict[str, Any]
TYPES = (
    "account.created", "account.updated", "account.moderated", "account.deleted",
    "relation.changed", "follows.imported", "posts.imported",
    "post.created", "post.edited", "post.deleted", "post.moderated", "quote.revoked",
    "favourite.changed", "reaction.changed", "pin.changed",
    "poll.voted", "poll.closed",
)  # fmt: skip
_MARKS = {
    **dict.fromkeys(REACTIONS, "reaction.changed"),
    Kind.FAVOURITE: "favourite.changed",
    Kind.PIN: "pin.changed",
}


class States(NamedTuple):
    """What the changes of a page do not say themselves, as it is now."""

    edges: Mapping[Pair, Edge]
    marks: frozenset[ViewerMarkKey]


class OwnedPayload(NamedTuple):
    owner_id: int
    payload: Payload


def describe_changes(alias: str, changes: Sequence[FiledChange]) -> list[Event]:
    """The events of these changes of a database, in their order; some changes are none.

    Cost: two queries for each shard that the owners of relations and marks are on.
    """
    owned = [(change, payload) for change in changes if (payload := _read(alias, change))]
    states = _load_states(payload for _, payload in owned)
    described = ((change, _describe(payload, states)) for change, payload in owned)
    return [
        Event(f"{alias}-{change.id}", event[0], change.created_at, event[1], alias, change.position)
        for change, event in described
        if event is not None
    ]


def _read(alias: str, change: FiledChange) -> OwnedPayload | None:
    """None: no event. One of another shape, after a way back to this release, stops no feed."""
    if change.kind not in _KINDS:
        return None
    try:
        return OwnedPayload(change.owner_id, read_payload(change.kind, change.payload))
    except msgspec.ValidationError as error:
        log.warning("events.change_unknown", alias=alias, change=change.id, error=str(error))
        return None


def _load_states(owned: Iterable[OwnedPayload]) -> States:
    pairs, marks = [], []
    for owner_id, payload in owned:
        if isinstance(payload, EdgeChanged):
            pairs.append((owner_id, payload.followee_id))
        elif isinstance(payload, PostMarked) and payload.mark in _MARKS:
            marks.append(_mark(owner_id, payload))
    return States(load_edges(pairs), load_marks(marks))


def _describe(owned: OwnedPayload, states: States) -> tuple[str, Data] | None:
    """Type and data of the event. None: the change is none."""
    match owned:
        case (owner_id, EdgeChanged() as payload):
            edge = states.edges.get((owner_id, payload.followee_id), NO_EDGE)
            return "relation.changed", describe_relation(owner_id, payload.followee_id, edge)
        case (owner_id, PostMarked() as payload):
            return _marked(owner_id, payload, states)
        case (_, UserRestricted(is_deleted=False) | AccountRestricted(is_deleted=True)):
            # The change of the other row, of the account or of its user, is the event.
            return None
    simple = _SIMPLE.get(type(owned.payload))
    return None if simple is None else (simple[0], simple[1](owned.owner_id, owned.payload))


def describe_relation(account_id: int, target_id: int, edge: Edge) -> Data:
    """What an account does to another one. `since_ms`: when that began, in Unix milliseconds."""
    return {
        "account_id": str(account_id),
        "target_id": str(target_id),
        "following": edge.is_follow,
        "requested": edge.is_request,
        "blocking": edge.attribute == Attribute.BLACK,
        "since_ms": edge.since_ms or None,
    }


def _marked(owner_id: int, payload: PostMarked, states: States) -> tuple[str, Data] | None:
    name = _MARKS.get(Kind(payload.mark))
    if name is None:
        return None
    mark = _mark(owner_id, payload)
    data: Data = {"account_id": str(owner_id), "post_id": mark.post_id.public}
    if mark.kind in DECLARED:
        data["name"] = find_reaction_name(mark.kind)
    return name, data | {name.removesuffix(".changed"): mark in states.marks}


def _mark(owner_id: int, payload: PostMarked) -> ViewerMarkKey:
    post_id = PostId.at(payload.target_author, payload.target_moment)
    return ViewerMarkKey(owner_id, post_id, Kind(payload.mark))


def _account(owner_id: int, payload: Any) -> Data:
    return {"account_id": str(owner_id)}


def _new_account(owner_id: int, payload: UserCreated) -> Data:
    return _account(owner_id, payload) | {"username": payload.username}


def _post(owner_id: int, payload: Any) -> Data:
    return _account(owner_id, payload) | {"post_id": PostId.at(owner_id, payload.moment).public}


def _imported_follows(owner_id: int, payload: FollowsImported) -> Data:
    """Of many accounts, so the event has no account of its own."""
    pairs = [{"account_id": str(a), "target_id": str(b)} for a, b in payload.pairs]
    return {"follows": pairs}


def _imported_posts(owner_id: int, payload: PostsImported) -> Data:
    posts = [{"account_id": str(i.author_id), "post_id": i.public} for i in payload.ids]
    return {"posts": posts}


def _visible_post(owner_id: int, payload: PostCreated | PostEdited | PostDeleted) -> Data:
    return _post(owner_id, payload) | {"visibility": Visibility(payload.visibility).name.lower()}


def _whole_post(owner_id: int, payload: PostCreated | PostDeleted) -> Data:
    quoted = PostId.at(*payload.quoted).public if payload.quoted else None
    return _visible_post(owner_id, payload) | _about(payload.target) | {"quote_of_id": quoted}


def _new_post(owner_id: int, payload: PostCreated) -> Data:
    """`type` as in a Status entity: absent of a status."""
    typed = {"type": payload.post_type} if payload.post_type else {}
    return _whole_post(owner_id, payload) | typed


def _revoked(owner_id: int, payload: QuoteRevoked) -> Data:
    return _post(owner_id, payload) | {"quote_of_id": PostId.at(*payload.quoted).public}


def _about(target: Target | None) -> Data:
    public = None if target is None else target.post_id.public
    is_repost = target is not None and target.kind == Kind.REPOST
    return {
        "reblog_of_id": public if is_repost else None,
        "in_reply_to_id": None if is_repost else public,
    }


_SIMPLE: Mapping[type[Payload], tuple[str, Callable[[int, Any], Data]]] = {
    UserCreated: ("account.created", _new_account),
    ProfileChanged: ("account.updated", _account),
    UserRestricted: ("account.deleted", _account),
    AccountRestricted: ("account.moderated", _account),
    FollowsImported: ("follows.imported", _imported_follows),
    PostsImported: ("posts.imported", _imported_posts),
    PostCreated: ("post.created", _new_post),
    PostEdited: ("post.edited", _visible_post),
    PostDeleted: ("post.deleted", _whole_post),
    PostHidden: ("post.moderated", _post),
    PostImagesChanged: ("post.moderated", _post),
    QuoteRevoked: ("quote.revoked", _revoked),
    PollVoted: ("poll.voted", _post),
    PollClosed: ("poll.closed", _post),
}
# The others are not decoded: chunks of a fan-out are long.
_KINDS = {EdgeChanged.kind, PostMarked.kind, *(payload.kind for payload in _SIMPLE)}
