"""The newest posts of tags, in Redis like timelines: home timelines with home tags merge them.

    timelines.tag_entries:v1:{tag}   like a home timeline (stores/packed.py), with version 0

The drain pushes a post here after the tag index has it. Missing lists are built from the index
(stores/entry_lists.py). A post that was deleted, or lost the tag, may stay: readers look at it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from infra.caching.questions import Question, answer
from posts.ids import PostId
from timelines.stores.entry_lists import EntryLists
from timelines.stores.packed import PackedStore
from timelines.tags.queries.tagged_posts import read_newest_tagged
from timelines.tags.types import tag_id_of
from timelines.types import Entry, LiveTimeline

TAG_ENTRIES_FAMILY = "timelines.tag_entries:v1"
# Older ones are read from the tag index.
ENTRIES_PER_TAG = 60
LIVE_S = 86_400


def ask_tag_entries(tag_ids: Sequence[int]) -> Question[dict[int, LiveTimeline]]:
    """The lists of these tags.

    Cost: one command a tag. For all that Redis lacks, one query on each shard that has one of them,
    two round trips a tag, and two for all.
    """
    return _lists.ask(tag_ids)


def load_tag_entries(tag_ids: Sequence[int]) -> dict[int, LiveTimeline]:
    """As `ask_tag_entries`, in a round trip of its own; none without tags."""
    return answer(ask_tag_entries(tag_ids)) if tag_ids else {}


def push_tag_entries(tags: Mapping[PostId, Iterable[str]]) -> None:
    """Adds posts to the lists of their tags that Redis has. Raises RedisError.

    Call it when the tag index has them. Safety: idempotent. Cost: one round trip.
    """
    added: dict[int, list[Entry]] = {}
    for post_id, names in tags.items():
        for name in names:
            added.setdefault(tag_id_of(name), []).append(Entry.of_post(post_id))
    if added:
        tag_entries_store().push(added)


@cache
def tag_entries_store() -> PackedStore:
    return PackedStore(ENTRIES_PER_TAG, LIVE_S, TAG_ENTRIES_FAMILY)


def _read_index(tag_ids: Sequence[int]) -> dict[int, LiveTimeline]:
    newest = read_newest_tagged(tag_ids, ENTRIES_PER_TAG + 1)
    return {tag_id: _live_of(posts) for tag_id, posts in newest.items()}


def _live_of(posts: Sequence[PostId]) -> LiveTimeline:
    """`posts`: newest first. A cut inside a second leaves that second incomplete."""
    has_more = len(posts) > ENTRIES_PER_TAG
    complete_from = posts[-1].second + 1 if has_more else 0
    kept = [post_id for post_id in reversed(posts) if post_id.second >= complete_from]
    return LiveTimeline.of([Entry.of_post(i).packed for i in kept], complete_from, 0)


_lists = EntryLists(TAG_ENTRIES_FAMILY, tag_entries_store, _read_index)
