"""What every store of home timelines can do. All of them are disposable: the truth is elsewhere."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from infra.caching.client import Command
from timelines.types import Entry, LiveTimeline


class FollowingChange(NamedTuple):
    """One step of the reader's following list, and what it does to the timeline.

    `added`: entries of a new followee; with them, all below `complete_from` is incomplete.
    `removed_author`: whose entries go. Neither: the step changes nothing here.
    """

    before: int
    after: int
    added: Sequence[Entry] = ()
    complete_from: int = 0
    removed_author: int | None = None


class TimelineStore(Protocol):
    """Calls that cost one round trip each, pushes more; a read in two halves, one for gathering."""

    def read_commands(self, reader_id: int) -> Sequence[Command]:
        """What a read asks of Redis, and keeps alive there; perhaps nothing. Replies for `load`."""

    def load(self, reader_id: int, replies: Sequence[Any]) -> LiveTimeline | None:
        """None: no live timeline, or one that is still being built.

        `replies`: to `read_commands`; none when Redis is away.
        """

    def peek(self, reader_ids: Sequence[int]) -> dict[int, LiveTimeline]:
        """Those of the readers' timelines that can be read, none of them kept alive by it."""

    def find_complete_from(self, reader_id: int) -> int | None:
        """How far down a timeline reaches, without keeping it alive; None when there is none."""

    def push(self, entries: Mapping[int, Sequence[Entry]]) -> int:
        """Adds entries by reader, to live timelines only; returns to how many. May repeat."""

    def begin_build(self, reader_id: int, epoch: int) -> None:
        """From now on pushes are kept, though nothing is readable yet. Takes over another build."""

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        """Ends the build: what was computed plus what was pushed meanwhile. False: taken over."""

    def change_following(self, reader_id: int, change: FollowingChange) -> None:
        """Applies one step; a timeline that missed an earlier step is dropped."""

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        """Takes entries out, every copy. False: it no longer has the mark and version of `seen`,
        so that they may be wanted again, and nothing was done."""

    def drop(self, reader_id: int) -> None: ...
