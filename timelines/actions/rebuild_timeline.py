"""Makes a reader's home timeline live: computes it and stores it for the next reads."""

import secrets

import structlog
from redis.exceptions import RedisError

from infra.changes.failpoints import failpoint
from infra.telemetry.reached import reached
from relations.queries.following import load_following
from timelines.actions.cut_old_entries import first_kept_second
from timelines.queries.pull import compute_timeline
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

log = structlog.get_logger()


def rebuild_timeline(reader_id: int, now_ms: int) -> LiveTimeline:
    """Computes the reader's newest entries and writes them to the store.

    The store keeps every push from the start of the build, which is before the first query. So the
    computation finds an entry, or the push brings it: none falls between the two. Without Redis
    the answer is the same, but is not stored.
    Cost: three round trips, the following list, one query per shard.
    """
    epoch, kept_from = secrets.randbits(64), first_kept_second(now_ms)
    try:
        timeline_store().begin_build(reader_id, epoch)
    except RedisError:
        return compute_timeline(reader_id, load_following(reader_id), kept_from)
    timeline = compute_timeline(reader_id, load_following(reader_id), kept_from)
    failpoint("rebuild.computed")
    try:
        timeline_store().finish_build(reader_id, epoch, timeline)
    except RedisError as error:
        reached("timeline.build_not_stored")
        log.warning("timeline.build_not_stored", reader=reader_id, error=str(error))
    return timeline
