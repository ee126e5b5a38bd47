"""Hot authors' newest entries, in Redis like timelines.

    timelines.hot_entries:v1:{author}   like a home timeline (stores/packed.py), with version 0

The drain pushes a hot author's posts here instead of to the followers. Missing entries are built
from the posts table (stores/entry_lists.py).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from infra.caching.questions import Question, answer
from posts.ids import PostId
from timelines.hot.directory import add_hot_authors
from timelines.queries.pull import list_newest_entries
from timelines.stores.entry_lists import EntryLists
from timelines.stores.packed import PackedStore
from timelines.types import Entry, LiveTimeline

HOT_ENTRIES_FAMILY = "timelines.hot_entries:v1"
# Older entries are pulled.
ENTRIES_PER_AUTHOR = 100
LIVE_S = 7 * 86_400


class HotEntries(NamedTuple):
    """One hot author's packed entries from the second `complete_from` on, oldest first.

    `reposts`: by the post that they show.
    """

    entries: list[bytes]
    complete_from: int
    reposts: Mapping[PostId, Sequence[Entry]]


def ask_hot_entries(author_ids: Sequence[int]) -> Question[dict[int, HotEntries]]:
    """The entries, one per author.

    Cost: one command an author. For each that Redis lacks, one query and two round trips.
    """
    return _lists.ask(author_ids).then(
        lambda lists: {author: _hot_entries(live) for author, live in lists.items()}
    )


def load_hot_entries(author_ids: Sequence[int]) -> dict[int, HotEntries]:
    """As `ask_hot_entries`, in a round trip of its own; none without authors."""
    return answer(ask_hot_entries(author_ids)) if author_ids else {}


def push_hot_entries(posted: Mapping[int, Sequence[Entry]]) -> None:
    """Adds entries of hot authors, by author. Raises RedisError.

    Safety: idempotent. Cost: two round trips.
    """
    if posted:
        hot_entries_store().push(posted)
        add_hot_authors(posted)


@cache
def hot_entries_store() -> PackedStore:
    return PackedStore(ENTRIES_PER_AUTHOR, LIVE_S, HOT_ENTRIES_FAMILY)


def _read_all(author_ids: Sequence[int]) -> dict[int, LiveTimeline]:
    return {author_id: _read_from_posts(author_id) for author_id in author_ids}


def _read_from_posts(author_id: int) -> LiveTimeline:
    entries, complete_from = list_newest_entries(author_id, 0, ENTRIES_PER_AUTHOR)
    return LiveTimeline.of([entry.packed for entry in reversed(entries)], complete_from, 0)


def _hot_entries(timeline: LiveTimeline) -> HotEntries:
    return HotEntries(timeline.packed, timeline.complete_from, timeline.reposts())


_lists = EntryLists(HOT_ENTRIES_FAMILY, hot_entries_store, _read_all)
