"""Repairs live timelines while they are read and pushed to.

Jobs and operators repair directly. Read repair: a page that finds mostly stale entries requests a
repair of its reader's timeline, and a periodic task does it.

    timelines.repairs:v1:{shard0}          readers whose timelines to repair, kept 10 minutes
    timelines.repair_requested:v1:{reader} a repair was requested within the last minute

Both keys may be lost: the rules keep stale entries from pages, and the next page requests again.
"""

from collections.abc import Sequence

import structlog
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.recent.factory import recent_index
from timelines.rules import VisibilityInputs, is_stale
from timelines.stores.factory import timeline_store
from timelines.types import Entry

# Per shard and run: changes wait during the run.
REPAIRS_PER_RUN = 10
# A page with fewer entries says nothing about the timeline.
MIN_ENTRIES = 10
REQUEST_PAUSE_S, REQUESTS_TTL_S = 60, 600
log = structlog.get_logger()


def repair_timeline(reader_id: int, difference: TimelineDifference) -> None:
    """Adds the missing entries, which are late posts for clients that poll, then removes the stale
    ones.

    Both are steps of a live timeline. It stays readable, and keeps what is pushed between. The
    second step does nothing when the timeline was replaced. A timeline that lacks more than it can
    hold is dropped instead: its reader's next page builds it.
    Safety: idempotent; when killed between the steps, the next run does the second one. Raises: the
    errors in UNREACHABLE. Cost: one round trip each, and one statement if entries are missing.
    """
    if difference.is_too_deep:
        timeline_store().drop(reader_id)
        return
    if difference.missing:
        timeline_store().push({reader_id: difference.missing})
        missing = [entry.event for entry in difference.missing]
        recent_index().settle_for(shard_of(reader_id), missing)
    failpoint("timeline.holes_filled")
    if difference.stale:
        timeline_store().remove(reader_id, difference.seen, difference.stale)


def describe_repair(reader_id: int, difference: TimelineDifference) -> list[str]:
    """What `repair_timeline` would change, one line per entry."""
    if difference.is_too_deep:
        return [f"account {reader_id}: lacks more than a timeline can hold: dropped"]
    return [
        *(_line(reader_id, "+", entry, "missing") for entry in difference.missing),
        *(_line(reader_id, "-", entry, "orphaned") for entry in difference.orphaned),
        *(_line(reader_id, "-", entry, "below the mark") for entry in difference.below_mark),
    ]


def _line(reader_id: int, sign: str, entry: Entry, why: str) -> str:
    event, original = entry
    shown = "" if event == original else f", a repost of {original.public}"
    return f"account {reader_id}: {sign} {event.public} of {event.author_id}{shown}: {why}"


def request_repair_if_stale(
    entries: Sequence[Entry], inputs: VisibilityInputs, page_entries: int
) -> None:
    """Requests a repair when more than half of the `page_entries` of a page are stale.

    `entries`: those of the page that may be stale. Entries that are only hidden for now, as by a
    mute, are not stale. Cost: one round trip if so, and once a minute one more.
    """
    stale = sum(is_stale(entry, inputs) for entry in entries)
    if page_entries >= MIN_ENTRIES and 2 * stale > page_entries:
        try:
            _request_repair(inputs.viewer_id)
        except RedisError as error:
            log.warning("timeline.repair_not_requested", reader=inputs.viewer_id, error=str(error))


def _request_repair(reader_id: int) -> None:
    requested = key("timelines.repair_requested:v1", reader_id)
    if redis().call("SET", requested, 1, "NX", "EX", REQUEST_PAUSE_S):
        readers = _requests_key(shard_of(reader_id))
        redis().run([("SADD", readers, reader_id), ("EXPIRE", readers, REQUESTS_TTL_S)])


def repair_requested_timelines(alias: str) -> None:
    """Repairs the timelines that pages requested.

    Cost: one round trip, and for each reader the cost of `find_difference` and `repair_timeline`.
    """
    repair_shard(alias)


def repair_shard(alias: str) -> int:
    """Repairs some requested timelines of one shard; returns how many differed."""
    popped = redis().call("SPOP", _requests_key(alias), REPAIRS_PER_RUN)
    decoded = (decode("timelines.repairs", int, reader_id) for reader_id in popped)
    timelines = timeline_store().peek([entry for entry in decoded if entry is not None])
    repaired = 0
    for reader_id, seen in timelines.items():
        difference = find_difference(reader_id, seen)
        if difference:
            repair_timeline(reader_id, difference)
            repaired += 1
            log.info("timeline.repaired", reader=reader_id, stale=len(difference.stale))
    return repaired


def _requests_key(alias: str) -> bytes:
    return key("timelines.repairs:v1", alias)
