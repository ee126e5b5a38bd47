"""Many followers with or without live timelines, written straight into tables and stores."""

from collections.abc import Iterable

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import PostId
from tests.world import find_live
from timelines.stores.factory import timeline_store
from timelines.types import Entry, LiveTimeline

FIRST_ID = 1_000_000
# Two followers share a millisecond, so that bounds fall between equals.
FOLLOW = """
INSERT INTO relations_backwardedge
    (followee_id, follower_id, attribute, flags, revision, since_ms)
SELECT %s, id, 1, 0, 1, 1000 + id / 2 FROM unnest(%s::bigint[]) AS id
"""


def write_followers(author_id: int, count: int) -> list[int]:
    """Followers without accounts, spread over all shards."""
    ids = list(range(FIRST_ID, FIRST_ID + count))
    execute(shard_of(author_id), FOLLOW, (author_id, ids))
    return ids


def make_live(reader_ids: Iterable[int]) -> None:
    """Gives the readers empty live timelines."""
    for reader_id in reader_ids:
        timeline_store().begin_build(reader_id, 1)
        timeline_store().finish_build(reader_id, 1, LiveTimeline.of([], 0, 0))


def entries_of(reader_id: int) -> set[Entry] | None:
    """The entries of a reader's live timeline; None: there is none."""
    live = find_live(reader_id)
    return None if live is None else {Entry.from_packed(packed) for packed in live.packed}


def of_post(*posts: PostId) -> set[Entry]:
    return {Entry.of_post(post) for post in posts}


def each(reader_ids: Iterable[int], *posts: PostId) -> dict[int, set[Entry] | None]:
    """The result of `have` when each reader has exactly these posts."""
    return {reader_id: of_post(*posts) for reader_id in reader_ids}


def have(reader_ids: Iterable[int]) -> dict[int, set[Entry] | None]:
    return {reader_id: entries_of(reader_id) for reader_id in reader_ids}
