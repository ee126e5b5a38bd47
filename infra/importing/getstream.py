"""GetStream's import and export files: JSON lines `{"type": …, "data": {…}}`.

The schemas are public: github.com/GetStream/protocol, jsonschemas/feeds (draft 2020-12). Taken are
`user`, `follow`, `activity` and `comment`; a line of another type, as `reaction`, is of no import.
Fields that Tideline has no place for are left out, unless a record would mean something else
without them. What is left out is counted by its name.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from infra.importing.errors import LineRefused, LineSkipped
from infra.importing.types import (
    AccountRecord,
    ExternalId,
    FollowRecord,
    Moment,
    PostRecord,
    Record,
)

# The feed of a user's own posts, and the one that shows those of others.
FOLLOWED_GROUPS, FOLLOWING_GROUPS = ("user",), ("user", "timeline")
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
    text: str = ""
    visibility: str = ""
    attachments: list[Any] = []
    parent_id: str | None = None
    poll_id: str | None = None
    expires_at: Moment | None = None
    created_at: Moment | None = None
    deleted_at: Moment | None = None


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
            not_kept.update(_list_left_out(item.type, shape, msgspec.json.decode(item.data)))
        return record
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise LineRefused(str(error)) from None


def _list_left_out(name: str, shape: type[Any], data: Mapping[str, Any]) -> Iterator[str]:
    """The names of fields with a value that the record does not have: `activity.custom.mood`."""
    custom = data.get("custom") or {}
    names = {
        f"custom.{key}": value for key, value in custom.items() if key not in KEPT_CUSTOM[name]
    }
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
    follower = _user_of(follow.source_fid, FOLLOWING_GROUPS)
    followee = _user_of(follow.target_fid, FOLLOWED_GROUPS)
    if follower == followee:
        return None
    notify = follow.push_preference == "all"
    return FollowRecord(follower, followee, follow.created_at, notify=notify)


def _user_of(feed: str, groups: tuple[str, ...]) -> str:
    group, _, user_id = feed.partition(":")
    if group not in groups or not user_id:
        raise LineRefused(f"{feed!r} is no feed of {' or '.join(groups)}")
    return user_id


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
        repost_of=activity.parent_id or None,
        attachments=len(activity.attachments),
    )


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
        in_reply_to=comment.parent_id or comment.object_id,
        attachments=len(comment.attachments),
    )


KEPT_CUSTOM: Mapping[str, Sequence[str]] = {
    "user": ("username", "name"), "follow": (), "activity": (), "comment": (),
}  # fmt: skip
Conversion = tuple[type[Any], Callable[[Any], Record | None], type[Record]]
CONVERSIONS: Mapping[str, Conversion] = {
    "user": (StreamUser, _account, AccountRecord),
    "follow": (StreamFollow, _follow, FollowRecord),
    "activity": (StreamActivity, _post, PostRecord),
    "comment": (StreamComment, _reply, PostRecord),
}
