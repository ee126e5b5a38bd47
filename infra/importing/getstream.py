"""GetStream's import and export files: JSON lines `{"type": …, "data": {…}}`.

The schemas are public: github.com/GetStream/protocol, jsonschemas/feeds (draft 2020-12). Taken are
`user`, `follow`, `activity`, `comment` and `reaction`; a line of another type is of no import.
Fields that Tideline has no place for are left out, unless a record would mean something else
without them. What is left out is counted by its name.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from infra.importing.errors import LineRefused, LineSkipped
from infra.importing.types import (
    AccountRecord,
    ExternalId,
    FollowRecord,
    Moment,
    PostRecord,
    ReactionRecord,
    Record,
)

# The feed of a user's own posts, and those that show the posts of others.
OWN_GROUP, FOLLOWING_GROUPS = "user", ("user", "timeline")
# Other feeds of a user. All further groups are of things of the product.
PERSONAL_GROUPS = ("timeline", "notification", "story", "stories", "foryou")
LIKE, FAVOURITE = "like", "favourite"
# Of a user.
KEPT_CUSTOM = ("username", "name")
# The type of an activity that is a text and nothing more.
POST = "post"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_]")


class StreamUser(msgspec.Struct, frozen=True):
    id: ExternalId
    custom: Mapping[str, Any] = {}
    created_at: Moment | None = None
    deleted_at: Moment | None = None


class StreamFollow(msgspec.Struct, frozen=True):
    source_fid: str
    target_fid: str
    status: str = "accepted"
    push_preference: str = "none"
    created_at: Moment | None = None


class StreamActivity(msgspec.Struct, frozen=True):
    id: ExternalId
    user_id: ExternalId
    type: str = POST
    text: str = ""
    visibility: str = ""
    attachments: list[Any] = []
    parent_id: str | None = None
    poll_id: str | None = None
    expires_at: Moment | None = None
    created_at: Moment | None = None
    deleted_at: Moment | None = None
    object: Any = None
    custom: dict[str, Any] = {}


class StreamComment(msgspec.Struct, frozen=True):
    id: ExternalId
    object_id: ExternalId
    user_id: ExternalId
    text: str
    parent_id: str | None = None
    status: str = "active"
    attachments: list[Any] = []
    created_at: Moment | None = None
    deleted_at: Moment | None = None
    custom: dict[str, Any] = {}


class StreamReaction(msgspec.Struct, frozen=True):
    type: str
    user_id: ExternalId
    activity_id: str | None = None
    comment_id: str | None = None
    created_at: Moment | None = None


class StreamItem(msgspec.Struct, frozen=True):
    type: str
    data: msgspec.Raw


def read_getstream_line(wanted: type[Record], not_kept: Counter[str], text: bytes) -> Record | None:
    """The record of this line; None: it is of another type. Raises: LineRefused, LineSkipped."""
    try:
        item = msgspec.json.decode(text, type=StreamItem)
        shape, convert, made = CONVERSIONS.get(item.type, (None, None, None))
        if shape is None or convert is None:
            raise LineSkipped(item.type)
        if made is not wanted:
            return None
        record = convert(msgspec.json.decode(item.data, type=shape))
        if record is not None:
            data = msgspec.json.decode(item.data)
            not_kept.update(_list_left_out(item.type, shape, data, record))
        return record
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise LineRefused(str(error)) from None


def _list_left_out(
    name: str, shape: type[Any], data: Mapping[str, Any], record: Record
) -> Iterator[str]:
    """The names of fields with a value that the record does not have: `user.custom.mood`."""
    keeps_custom = isinstance(record, PostRecord) and not record.repost_of
    custom = {} if keeps_custom else data.get("custom") or {}
    names = {f"custom.{key}": value for key, value in custom.items() if key not in KEPT_CUSTOM}
    names |= {key: value for key, value in data.items() if key not in shape.__struct_fields__}
    names.pop("custom", None)
    return (f"{name}.{key}" for key, value in names.items() if value)


def _account(user: StreamUser) -> AccountRecord:
    """A user has an id and no name: `custom.username` is the username, else the id is."""
    if user.deleted_at is not None:
        raise LineRefused("the user is deleted")
    name = user.custom.get("username")
    username = name if isinstance(name, str) else _NOT_IN_NAMES.sub("_", user.id.lower())
    shown = user.custom.get("name")
    display_name = shown if isinstance(shown, str) else ""
    return AccountRecord(user.id, username, display_name=display_name, created_at=user.created_at)


def _follow(follow: StreamFollow) -> FollowRecord | None:
    """None: a timeline that shows the user's own posts, as every home timeline does here."""
    if follow.status != "accepted":
        raise LineRefused(f"the follow is {follow.status}")
    (source, follower), (target, followee) = map(_read_feed, (follow.source_fid, follow.target_fid))
    if source not in FOLLOWING_GROUPS or target in PERSONAL_GROUPS:
        raise LineSkipped(f"follow: {source} of {target}")
    kind = "" if target == OWN_GROUP else target
    if not kind and follower == followee:
        return None
    notify = follow.push_preference == "all"
    return FollowRecord(follower, followee, follow.created_at, notify=notify, object_kind=kind)


def _read_feed(feed: str) -> tuple[str, str]:
    """Its group and its id in the group."""
    group, _, feed_id = feed.partition(":")
    if not group or not feed_id:
        raise LineRefused(f"{feed!r} is no feed")
    return group, feed_id


def _post(activity: StreamActivity) -> PostRecord:
    if activity.deleted_at is not None:
        return PostRecord(activity.id, activity.user_id, deleted=True)
    if activity.visibility not in ("", "public"):
        raise LineRefused(f"posts have no visibility {activity.visibility!r} here")
    for name in ("poll_id", "expires_at"):
        if getattr(activity, name):
            raise LineRefused(f"{name} is not imported")
    if activity.parent_id and activity.text:
        raise LineRefused("it quotes another activity")
    return PostRecord(
        activity.id,
        activity.user_id,
        activity.text,
        activity.created_at,
        custom=_own_data_of(activity),
        repost_of=activity.parent_id or None,
        attachments=len(activity.attachments),
    )


def _own_data_of(activity: StreamActivity) -> dict[str, Any] | None:
    """What it says about itself: its `custom`, what it is about and what was done, such as `cook`.

    None: nothing. A repost has no data of its own.
    """
    if activity.parent_id:
        return None
    about = {"object": activity.object} if activity.object is not None else {}
    verb = {"type": activity.type} if activity.type != POST else {}
    return {**activity.custom, **about, **verb} or None


def _reply(comment: StreamComment) -> PostRecord:
    if comment.deleted_at is not None or comment.status == "deleted":
        return PostRecord(comment.id, comment.user_id, deleted=True)
    if comment.status != "active":
        raise LineRefused(f"the comment is {comment.status}")
    return PostRecord(
        comment.id,
        comment.user_id,
        comment.text,
        comment.created_at,
        custom=comment.custom or None,
        in_reply_to=comment.parent_id or comment.object_id,
        attachments=len(comment.attachments),
    )


def _reaction(reaction: StreamReaction) -> ReactionRecord:
    """A like is the favourite. Other types are names here."""
    post = reaction.comment_id or reaction.activity_id
    if not post:
        raise LineRefused("it has no activity_id and no comment_id")
    name = _NOT_IN_NAMES.sub("_", reaction.type.lower())
    name = FAVOURITE if name == LIKE else name
    return ReactionRecord(reaction.user_id, post, name, reaction.created_at)


Conversion = tuple[type[Any], Callable[[Any], Record | None], type[Record]]
CONVERSIONS: Mapping[str, Conversion] = {
    "user": (StreamUser, _account, AccountRecord),
    "follow": (StreamFollow, _follow, FollowRecord),
    "activity": (StreamActivity, _post, PostRecord),
    "comment": (StreamComment, _reply, PostRecord),
    "reaction": (StreamReaction, _reaction, ReactionRecord),
}
