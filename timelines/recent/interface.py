"""The interface of the recent-posts index, which has the posts of RECENT_DAYS and their arrival.

An entry is in the index before it is pushed to any reader. So a timeline that is built finds an
entry here, or the push brings it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from posts.ids import PostId
from timelines.polling.types import LatePosts
from timelines.recent.queries.late_rows import PolledAuthors
from timelines.recent.queries.newest_posts import Wanted
from timelines.types import Entry, TimelineAuthors, TimeRange


class RecentEntries(NamedTuple):
    """Entries in the requested order; there are no others from the second `complete_from` on.

    `complete_from` None: the index must not be read (yet).
    """

    entries: list[Entry]
    complete_from: int | None


class RecentIndex(Protocol):
    """`shards`, `shard`: those of the readers who are about to get the entries."""

    def add(self, entries: Sequence[Entry], shards: Iterable[str]) -> Mapping[str, int | None]:
        """Adds entries of any authors, and returns for each shard how many were missing.

        None: push to no readers of this shard now. Safety: idempotent, in any order.
        """

    def add_for(self, shard: str, entries: Sequence[Entry]) -> int:
        """As `add`, for one shard that may not answer. Raises: errors of UNREACHABLE."""

    def add_old(self, entries: Sequence[Entry]) -> None:
        """As `add` for all readers, of posts that no poll takes for new. Raises: errors of
        UNREACHABLE."""

    def settle(self, shards: Iterable[str], events: Sequence[PostId]) -> Sequence[str]:
        """Records that these posts became visible to the readers only now; returns the shards that
        do not answer. Call it after the push, before the change is filed: a push that dies is
        repeated, and the repetition settles. Safety: idempotent."""

    def settle_for(self, shard: str, events: Sequence[PostId]) -> None:
        """As `settle`, for one shard that may not answer. Raises: errors of UNREACHABLE."""

    def remove(self, events: Collection[PostId]) -> None:
        """Removes deleted posts from every shard that answers. Pages skip those that stay."""

    def load(
        self,
        authors: TimelineAuthors,
        time_range: TimeRange,
        limit: int,
        newest_first: bool,
    ) -> RecentEntries:
        """The `limit` newest (or oldest) entries of the authors inside the range.

        Followees' posts are there when they have arrived, also some deleted ones; the reader's own
        posts are those of now.
        """

    def list_arrived(self, reader_id: int, entries: Sequence[Entry]) -> list[Entry]:
        """Those of the entries that the index has, or that are below its low-water mark."""

    def load_of_all(self, wanted: Wanted) -> dict[PostId, int]:
        """Posts of all authors, without reposts, and when each became visible (ms), in the order of
        the request. Raises: OperationalError, InterfaceError when no shard answers.
        """

    def load_late(self, authors: PolledAuthors, cursor: PostId, floor: int | None) -> LatePosts:
        """As `load_late_posts`. Raises: errors of UNREACHABLE."""
