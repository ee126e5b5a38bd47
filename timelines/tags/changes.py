"""The changes that tags emit."""

from typing import ClassVar

from infra.changes.registry import Payload


class FollowedTagsChanged(Payload, frozen=True):
    """The owner's followed tags, or whether home shows their posts; consumers read the rows."""

    kind: ClassVar[str] = "timelines.followed_tags_changed"
