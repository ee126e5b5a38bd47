"""Hot authors' newest entries, in Redis like timelines.

    timelines.hot_entries:v1:{author}   like a home timeline (stores/packed.py), with version 0

The drain pushes a hot author's posts here instead of to the followers. Missing entries are built
from the posts table as live timelines are: what is pushed during the build is kept.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from redis.exceptions import RedisError

from infra.caching.keys import key
from infra.caching.load_tokens import LoadTokens, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, answer, ask_each
from posts.ids import PostId
from timelines.hot.directory import add_hot_authors
from timelines.queries.pull import list_newest_entries
from timelines.stores.overtaken import OvertakenTimelines
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

    Cost: one command an author. For each that Redis lacks, one query and four round trips.
    """
    return _ask_entries(author_ids).then(partial(_complete, author_ids))


def load_hot_entries(author_ids: Sequence[int]) -> dict[int, HotEntries]:
    """As `ask_hot_entries`, in a round trip of its own; none without authors."""
    return answer(ask_hot_entries(author_ids)) if author_ids else {}


def _complete(
    author_ids: Sequence[int], timelines: Mapping[int, LiveTimeline]
) -> dict[int, HotEntries]:
    missing = [author for author in author_ids if author not in timelines]
    built = _loads.load_missing(missing) if missing else {}
    return {author: _hot_entries(timelines.get(author) or built[author]) for author in author_ids}


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


def _ask_entries(author_ids: Collection[int]) -> Question[dict[int, LiveTimeline]]:
    """The entries of those authors that Redis has."""
    asked = ask_each({author: hot_entries_store().ask(author) for author in author_ids})
    return asked.then(
        lambda timelines: {i: timeline for i, timeline in timelines.items() if timeline is not None}
    )


def _build_all(author_ids: Sequence[int], tokens: LoadTokens) -> dict[int, LiveTimeline]:
    built = {author: _build(author) for author in author_ids}
    write_loaded(HOT_ENTRIES_FAMILY, tokens.release_commands(list(map(_key_of, author_ids))))
    return built


def _build(author_id: int) -> LiveTimeline:
    store, epoch = hot_entries_store(), secrets.randbits(64)
    try:
        store.begin_build(author_id, epoch)
        built = _read_from_posts(author_id)
        store.finish_build(author_id, epoch, built)
    except RedisError:
        built = _read_from_posts(author_id)
        _overtaken.note(author_id)
    return built


def _key_of(author_id: int) -> bytes:
    return key(HOT_ENTRIES_FAMILY, author_id)


def _read_from_posts(author_id: int) -> LiveTimeline:
    entries, complete_from = list_newest_entries(author_id, 0, ENTRIES_PER_AUTHOR)
    return LiveTimeline.of([entry.packed for entry in reversed(entries)], complete_from, 0)


def _hot_entries(timeline: LiveTimeline) -> HotEntries:
    return HotEntries(timeline.packed, timeline.complete_from, timeline.reposts())


_loads = SharedLoads(HOT_ENTRIES_FAMILY, _key_of, _ask_entries, _build_all)
_overtaken = OvertakenTimelines(lambda author_ids: hot_entries_store().drop_from_redis(author_ids))
