"""Applies one step of a reader's following list to the live timeline."""

from functools import partial

from django.conf import settings

from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.telemetry.reached_branches import reached
from relations.changes import EdgeChanged
from relations.queries.edges import KnownFollow, load_follows
from timelines.queries.pull import list_newest_entries
from timelines.recent.factory import recent_index
from timelines.stores.factory import timeline_store
from timelines.stores.interface import FollowingChange

# Each attempt but the first needs another step by the reader while the one before it ran.
MOST_ATTEMPTS = 3


def change_following(reader_id: int, step: EdgeChanged, known: KnownFollow) -> None:
    """Adds a followee's posts to the live timeline, or removes those of a former followee.

    The step may have been undone since it was read: the reader followed again, and another process
    has added the posts already. Then the edge is read again.
    Cost: one round trip, and for a new followee another one and two queries.
    """
    pair = reader_id, step.followee_id
    for _ in range(MOST_ATTEMPTS):
        failpoint("timelines.follow_read")
        if _apply(reader_id, step, known):
            return
        reached("timeline.step_outdated")
        known = load_follows(shard_of(reader_id), [pair])[pair]
    timeline_store().drop(reader_id)


def _apply(reader_id: int, step: EdgeChanged, known: KnownFollow) -> bool:
    store = timeline_store()
    change = partial(FollowingChange, step.before, step.after, read_at=known.version)
    if not known.is_follow:
        return store.change_following(reader_id, change(removed_author=step.followee_id))
    mark = store.find_complete_from(reader_id)
    if mark is None:
        return True
    most = settings.TIMELINE_ENTRIES
    posted, complete_from = list_newest_entries(step.followee_id, mark, most)
    # Without those that are not indexed yet: a build would not find them, and what was shown would
    # go again. They are pushed later, to a follower who is known by now.
    added = recent_index().list_arrived(reader_id, posted)
    return store.change_following(reader_id, change(added, complete_from))
