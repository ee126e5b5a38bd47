"""The changes that timelines emit.

Most are pieces of a fan-out that one drain cannot do at once: follow-up changes of `posts.created`.
The owner is the author of the entries.
"""

from typing import ClassVar

from infra.changes.lanes import LaneGroup
from infra.changes.registry import Payload
from relations.types import ListedAccount
from timelines.types import Entry


class FanOutBegun(Payload, frozen=True):
    """A big fan-out has to be cut into chunks, from the followers older than `below` on.

    `shards`: the shards of the readers to reach. Their recent-posts index has the entries.
    """

    kind: ClassVar[str] = "timelines.fan_out_begun"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    entries: tuple[Entry, ...]
    shards: tuple[str, ...]
    below: ListedAccount | None = None


class ChunkCut(Payload, frozen=True):
    """The entries have to be pushed to the followers older than `below`, up to and with `last`."""

    kind: ClassVar[str] = "timelines.chunk_cut"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    entries: tuple[Entry, ...]
    shards: tuple[str, ...]
    below: ListedAccount | None
    last: ListedAccount | None


class ShardMissed(Payload, frozen=True):
    """A shard did not answer. Later it has to index the entries and push them to its readers."""

    kind: ClassVar[str] = "timelines.shard_missed"
    lanes: ClassVar[LaneGroup] = LaneGroup.WAITING
    is_follow_up: ClassVar[bool] = True

    entries: tuple[Entry, ...]
    shard: str


class AuthorCooled(Payload, frozen=True):
    """A hot author's posts are pushed again. Timelines that lack earlier ones are to be dropped."""

    kind: ClassVar[str] = "timelines.author_cooled"


class FollowersBehind(Payload, frozen=True):
    """The live timelines of followers older than `below` may lack posts that were not pushed."""

    kind: ClassVar[str] = "timelines.followers_behind"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    below: ListedAccount | None = None
