"""Makes a home timeline live again: computed from the truth, laid for the next reads."""

import secrets

import structlog
from django.conf import settings
from redis.exceptions import RedisError

from infra.changes.failpoints import failpoint
from relations.queries.following import Following, load_following
from timelines.queries.pull import complete
from timelines.queries.span import TimelineAuthors, TimeRange
from timelines.recent.queries.recent_posts import load_recent
from timelines.stores.factory import timeline_store
from timelines.types import Entry, LiveTimeline

# Two of the largest pages.
ENOUGH = 80
log = structlog.get_logger()


def rebuild_timeline(reader_id: int) -> LiveTimeline:
    """Computes the reader's newest entries and lays them in the store.

    The store keeps what is pushed from before the first query on, so an entry is either found by
    the pull or among those: no hole between the two. Without Redis the answer is as right.
    Cost: three round trips, the following list, one query per shard.
    """
    epoch = secrets.randbits(64)
    try:
        timeline_store().begin_build(reader_id, epoch)
    except RedisError:
        return compute_timeline(reader_id, load_following(reader_id))
    timeline = compute_timeline(reader_id, load_following(reader_id))
    failpoint("rebuild.computed")
    try:
        timeline_store().finish_build(reader_id, epoch, timeline)
    except RedisError as error:
        log.warning("timeline.not_laid", reader=reader_id, error=str(error))
    return timeline


def compute_timeline(reader_id: int, following: Following) -> LiveTimeline:
    """The newest entries, and how far down they are complete.

    No further down than the recent-posts index where that has ENOUGH: no other shard is asked then,
    and none need be up. Cost: as `pull`.
    """
    limit, circle = settings.TIMELINE_ENTRIES, TimelineAuthors(reader_id, following.followee_ids)
    entries, complete_from = _newest(circle, limit)
    if len(entries) == limit:
        # A cut inside a second leaves that second incomplete.
        complete_from = entries[-1].event.second + 1
    kept = [e.packed for e in reversed(entries) if e.event.second >= complete_from]
    return LiveTimeline.of(kept, complete_from, following.version)


def _newest(circle: TimelineAuthors, limit: int) -> tuple[list[Entry], int]:
    """At most so many, and from which second on there are no others, unless there are so many."""
    recent = load_recent(circle, TimeRange(), limit)
    if recent.complete_from is not None and len(recent.entries) >= min(ENOUGH, limit):
        return recent.entries, recent.complete_from
    return complete(recent, circle, TimeRange(), limit), 0
