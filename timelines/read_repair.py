"""Read repair: a page that finds mostly dead entries has its reader's timeline mended behind it.

    timelines.repairs:v1:{shard0}          readers whose timelines to repair, kept 10 minutes
    timelines.repair_requested:v1:{reader} a repair was requested within the last minute

All of it may be lost: the rules keep dead entries from pages, and the next page notices again.
"""

from collections.abc import Sequence

import structlog
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from timelines.actions.repair_timeline import repair_timeline
from timelines.queries.difference import find_difference
from timelines.rules import VisibilityInputs, is_stale
from timelines.stores.factory import timeline_store
from timelines.types import Entry

# Of each shard, each time: changes wait meanwhile.
REPAIRS_PER_RUN = 10
# A page of fewer entries says nothing about the timeline.
MIN_ENTRIES = 10
NOTICED_S, KEPT_S = 60, 600
log = structlog.get_logger()


def request_repair_if_stale(entries: Sequence[Entry], facts: VisibilityInputs) -> None:
    """Files the viewer's timeline when more than half of what a page examined is dead.

    What is hidden for now, as by a mute, is not. Cost: none, or one round trip; once a minute one
    more.
    """
    dead = sum(is_stale(entry, facts) for entry in entries)
    if len(entries) >= MIN_ENTRIES and 2 * dead > len(entries):
        try:
            _file(facts.viewer_id)
        except RedisError as error:
            log.warning("timeline.not_filed", reader=facts.viewer_id, error=str(error))


def _file(reader_id: int) -> None:
    noticed = key("timelines.repair_requested:v1", reader_id)
    if redis().call("SET", noticed, 1, "NX", "EX", NOTICED_S):
        worn = _worn(shard_of(reader_id))
        redis().run([("SADD", worn, reader_id), ("EXPIRE", worn, KEPT_S)])


def repair_requested_timelines(alias: str) -> None:
    """Mends what pages filed.

    Cost: one round trip, and for each reader filed what `find_difference` and `mend` say.
    """
    repair_shard(alias)


def repair_shard(alias: str) -> int:
    """Mends some of one shard's; returns how many differed."""
    popped = redis().call("SPOP", _worn(alias), REPAIRS_PER_RUN)
    timelines = timeline_store().peek([int(reader_id) for reader_id in popped])
    mended = 0
    for reader_id, seen in timelines.items():
        found = find_difference(reader_id, seen)
        if found:
            repair_timeline(reader_id, found)
            mended += 1
            log.info("timeline.repaired", reader=reader_id, dead=len(found.stale))
    return mended


def _worn(alias: str) -> bytes:
    return key("timelines.repairs:v1", alias)
