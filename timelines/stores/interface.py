"""The interface of the stores of home timelines, and what the stores share.

A store may lose everything: its timelines are built again from the posts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from infra.caching.questions import Question
from timelines.types import Entry, LiveTimeline

# Later than all. Lua's numbers are exact up to here.
ANY_VERSION = 1 << 53


class FollowingChange(NamedTuple):
    """One step of the reader's following list, and its effect on the timeline.

    `before`, `after`: versions of the list. `added`: entries of a new followee; with them the
    low-water mark is at least `complete_from`. `removed_author`: the author whose entries go.
    `read_at`: a version of the list before it was read whether the author is followed. A timeline
    of a later version may reflect that the author was followed or left again.
    """

    before: int
    after: int
    added: Sequence[Entry] = ()
    complete_from: int = 0
    removed_author: int | None = None
    read_at: int = ANY_VERSION


class TimelineStore(Protocol):
    """Each call costs one round trip; a push may cost more."""

    def ask(self, reader_id: int) -> Question[LiveTimeline | None]:
        """The live timeline; it also extends its life.

        None: there is none, or it is still being built. Cost: at most two commands, perhaps none.
        """

    def peek(self, reader_ids: Sequence[int]) -> dict[int, LiveTimeline]:
        """The readers' timelines that can be read, without extending their life."""

    def find_complete_from(self, reader_id: int) -> int | None:
        """The low-water mark, without extending the timeline's life. 0 during a build."""

    def push(self, entries: Mapping[int, Sequence[Entry]]) -> int:
        """Adds entries, by reader, to live timelines only; returns how many readers have one.

        Safety: may run again; entries may then repeat.
        """

    def begin_build(self, reader_id: int, epoch: int) -> None:
        """Keeps pushes from now on; nothing is readable before `finish_build`. Takes over a build
        that is under way."""

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        """Stores the computed timeline, with the pushes since `begin_build`. False: another build
        took over."""

    def change_following(self, reader_id: int, change: FollowingChange) -> bool:
        """Applies one step. A timeline that missed an earlier step is dropped.

        False: the timeline is of a later version than `read_at`, and was not changed.
        """

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        """Removes entries, with their repeats.

        False: low-water mark or version differ from `seen`. The entries may be wanted again, so
        nothing was removed.
        """

    def drop(self, reader_id: int) -> None:
        """Deletes the timeline; the reader's next page builds it."""

    def drop_from_redis(self, reader_ids: Sequence[int]) -> None:
        """Deletes what Redis has of these timelines, and leaves what the shards have."""


def group_readers(
    entries: Mapping[int, Sequence[Entry]], size: int
) -> Iterator[tuple[list[int], Sequence[Entry]]]:
    """Groups of at most `size` readers who get the same entries, each with these entries.

    One post for thousands of readers is the same object for all of them. So it is packed and sent
    once per group.
    """
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for reader_id, added in entries.items():
        readers = groups[id(added)]
        readers.append(reader_id)
        if len(readers) == size:
            yield groups.pop(id(added)), added
    for readers in groups.values():
        yield readers, entries[readers[0]]
