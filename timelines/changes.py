"""The changes timelines ask for: pieces of fan-outs that are too big, or too early, for a drain.

The owner is the author of the entries. Those that fan out are follow_ups of `posts.created`.
"""

from typing import ClassVar

from infra.changes.lanes import LaneGroup
from infra.changes.registry import Payload
from relations.types import ListedAccount
from timelines.types import Entry


class FanOutBegun(Payload, frozen=True):
    """Followers older than `below` are to be dispatched: cut into chunks.

    `shards`: of the readers to be reached; they have the entries in their recent-posts index.
    """

    kind: ClassVar[str] = "timelines.fan_out_begun"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    entries: tuple[Entry, ...]
    shards: tuple[str, ...]
    below: ListedAccount | None = None


class ChunkCut(Payload, frozen=True):
    """Followers older than `below` down to and with `last` are to have the entries pushed."""

    kind: ClassVar[str] = "timelines.chunk_cut"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    entries: tuple[Entry, ...]
    shards: tuple[str, ...]
    below: ListedAccount | None
    last: ListedAccount | None


class ShardMissed(Payload, frozen=True):
    """A shard did not answer: it is to be indexed, and its readers pushed to, when it does."""

    kind: ClassVar[str] = "timelines.shard_missed"
    lanes: ClassVar[LaneGroup] = LaneGroup.WAITING
    is_follow_up: ClassVar[bool] = True

    entries: tuple[Entry, ...]
    shard: str


class AuthorCooled(Payload, frozen=True):
    """A hot author is pushed for again; what was not pushed meanwhile is to be made good."""

    kind: ClassVar[str] = "timelines.author_cooled"


class FollowersBehind(Payload, frozen=True):
    """Followers older than `below` may have live timelines without what was not pushed."""

    kind: ClassVar[str] = "timelines.followers_behind"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    below: ListedAccount | None = None
