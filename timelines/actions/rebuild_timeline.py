"""Makes a reader's home timeline live: computes it and stores it for the next reads.

timelines.builds:v1:{reader}:load   load token: a thread builds the timeline, and others wait
"""

import secrets
from collections.abc import Sequence
from functools import partial

import structlog
from redis.exceptions import RedisError

from infra.caching.keys import key
from infra.caching.lists import ListVersionMarker
from infra.caching.load_tokens import LoadTokens, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, ask_both
from infra.changes.failpoints import failpoint
from infra.telemetry.reached_branches import reached
from relations.cache import FOLLOWING
from relations.queries.following import load_following
from timelines.actions.cut_old_entries import first_kept_second
from timelines.queries.pull import compute_timeline
from timelines.stores.factory import overtaken_timelines, timeline_store
from timelines.types import Entry, LiveTimeline

FAMILY = "timelines.builds:v1"
log = structlog.get_logger()


def rebuild_timeline(reader_id: int, now_ms: int) -> LiveTimeline:
    """The reader's newest entries, which this thread or another one computes and stores.

    A thread that waited takes the stored timeline: it has what was pushed during the build. If it
    reflects another version of the following list than Redis has now, it is built again.
    Cost: five round trips, the following list, one query per shard.
    """
    loads = SharedLoads(FAMILY, _key_of, _ask, partial(_build, now_ms))
    return loads.load_missing([reader_id])[reader_id]


def _ask(reader_ids: Sequence[int]) -> Question[dict[int, LiveTimeline]]:
    """The stored timeline, if it reflects the following list that Redis has.

    The version of the list is read before the timeline, as on a page.
    """
    (reader_id,) = reader_ids
    listed, stored = FOLLOWING.ask_version_marker(reader_id), timeline_store().ask(reader_id)
    return ask_both(listed, stored).then(partial(_up_to_date, reader_id))


def _up_to_date(
    reader_id: int, stored: tuple[ListVersionMarker | None, LiveTimeline | None]
) -> dict[int, LiveTimeline]:
    listed, live = stored
    if listed is None or live is None or live.following_version != listed.version:
        return {}
    return {reader_id: live}


def _build(now_ms: int, reader_ids: Sequence[int], tokens: LoadTokens) -> dict[int, LiveTimeline]:
    (reader_id,) = reader_ids
    built = _build_one(reader_id, now_ms)
    write_loaded(FAMILY, tokens.release_commands([_key_of(reader_id)]))
    return {reader_id: built}


def _build_one(reader_id: int, now_ms: int) -> LiveTimeline:
    """Computes the timeline and writes it to the store.

    The store keeps every push from the start of the build, which is before the first query. So the
    computation finds an entry, or the push brings it: none falls between the two. Without Redis
    the answer is the same, but is not stored.
    """
    epoch, kept_from = secrets.randbits(64), first_kept_second(now_ms)
    try:
        timeline_store().begin_build(reader_id, epoch)
    except RedisError:
        return _compute_unstored(reader_id, kept_from)
    timeline = compute_timeline(reader_id, load_following(reader_id), kept_from)
    failpoint("rebuild.computed")
    try:
        _finish(reader_id, epoch, timeline)
    except RedisError as error:
        reached("timeline.build_not_stored")
        log.warning("timeline.build_not_stored", reader=reader_id, error=str(error))
        overtaken_timelines.note(reader_id)
    return timeline


def _compute_unstored(reader_id: int, kept_from: int) -> LiveTimeline:
    timeline = compute_timeline(reader_id, load_following(reader_id), kept_from)
    overtaken_timelines.note(reader_id)
    return timeline


def _finish(reader_id: int, epoch: int, timeline: LiveTimeline) -> None:
    """Stores the timeline. If another build took over, pushes the newest entries to that one.

    It may have read the shards earlier, and would lack what this page shows until that is pushed.
    """
    is_stored = timeline_store().finish_build(reader_id, epoch, timeline)
    newest = [] if is_stored else [Entry.from_packed(packed) for packed in timeline.newest_packed]
    if newest:
        timeline_store().push({reader_id: newest})


def _key_of(reader_id: int) -> bytes:
    return key(FAMILY, reader_id)
