"""The records of imports. Their fields are the documented JSON lines (import-from-another-system).

An id is a text of the other system. Times have a time zone.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

LONGEST_ID = 255
ExternalId = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ID)]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class NamedValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the table that a profile shows."""

    name: str
    value: str


class AccountRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An account of the other system. `created_at` None: unknown."""

    id: ExternalId
    username: str
    email: str = ""
    display_name: str = ""
    note: str = ""
    created_at: Moment | None = None
    locked: bool = False
    bot: bool = False
    discoverable: bool = True
    fields: Sequence[NamedValue] = ()


class FollowRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A follow, or with `ended` the end of one. `since`: when it began or ended; None: unknown.

    `languages`: of the posts that are shown; none: of all. `object_kind`: `followee` is an object
    of this kind, by the id that its service has for it.
    """

    follower: ExternalId
    followee: ExternalId
    since: Moment | None = None
    quiet: bool = False
    notify: bool = False
    reposts: bool = True
    languages: Sequence[str] = ()
    ended: bool = False
    object_kind: str = ""


class PostRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A post, reply or repost, or with `deleted` the end of one.

    `attachments`: how many images and the like it has in the other system. `custom`: a JSON object.
    """

    id: ExternalId
    author: ExternalId
    text: str = ""
    created_at: Moment | None = None
    visibility: Literal["public", "unlisted", "private", "direct"] = "public"
    sensitive: bool = False
    spoiler_text: str = ""
    language: str | None = None
    type: str = "status"
    custom: dict[str, Any] | None = None
    in_reply_to: ExternalId | None = None
    repost_of: ExternalId | None = None
    attachments: Annotated[int, msgspec.Meta(ge=0)] = 0
    deleted: bool = False


class ReactionRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reaction to an imported post, by its name. `at`: when; None: unknown."""

    account: ExternalId
    post: ExternalId
    reaction: str
    at: Moment | None = None


Record = AccountRecord | FollowRecord | PostRecord | ReactionRecord
