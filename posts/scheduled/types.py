"""Values of scheduled posts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec


class PollParams(msgspec.Struct, frozen=True):
    """A poll that begins when its post is published."""

    options: tuple[str, ...]
    multiple: bool
    hide_totals: bool
    expires_in_s: int


class PostParams(msgspec.Struct, frozen=True):
    """What the author wrote, validated, with the author's defaults of then.

    `visibility`: the name of one. `in_reply_to`, `quoted`: public ids. `application`, `post_type`,
    `custom`: as of a post.
    """

    text: str
    sensitive: bool
    spoiler_text: str
    visibility: str
    language: str | None = None
    in_reply_to: str | None = None
    media_ids: tuple[int, ...] = ()
    poll: PollParams | None = None
    application: Mapping[str, Any] | None = None
    application_id: int | None = None
    quoted: str | None = None
    quote_policy: str = "public"
    reply_policy: str = "public"
    post_type: str | None = None
    custom: str | None = None


class ScheduledPostRow(NamedTuple):
    """One post as its shard has it. `failure`: empty unless it could not be published."""

    scheduled_id: int
    due_ms: int
    params: PostParams
    failure: str
    key: str

    @property
    def media_ids(self) -> Sequence[int]:
        return self.params.media_ids
