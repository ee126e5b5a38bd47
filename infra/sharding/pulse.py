"""The pulse of a shard: notices that it came back without writes that it had acknowledged.

Every few seconds a compensator writes the time into the shard, and then into `default`. A shard
whose own time is older than the one in `default` was restored to an earlier moment. A shard with
another timeline of PostgreSQL was promoted: without a synchronous standby it may lack what was
written after its last pulse. It is one query and no comparison of rows, so it says "may".
"""

from datetime import datetime
from typing import NamedTuple

import structlog

from infra.sharding.models import Pulse
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_one
from infra.telemetry.gauges import process_gauge

TIMELINE = "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint"
# A new database has no pulse: all that it was may be lost since it was made.
READ = f"""
SELECT beat_at, coalesce(beat_at, created_at), {TIMELINE},
    current_setting('synchronous_standby_names') <> ''
    AND current_setting('synchronous_commit') NOT IN ('off', 'local')
FROM sharding_databaseidentity
"""  # noqa: S608 - a constant
# Later than before, also if the clock of a promoted server is behind. It writes nothing if the
# shard is not as it was read: another server, or the pulse of another compensator.
BEAT = f"""
UPDATE sharding_databaseidentity
SET beat_at = greatest(
    clock_timestamp(), beat_at + interval '1 us', %s::timestamptz + interval '1 us'
)
WHERE beat_at IS NOT DISTINCT FROM %s::timestamptz AND {TIMELINE} = %s
RETURNING beat_at
"""  # noqa: S608 - a constant
REMEMBER = """
INSERT INTO sharding_pulse (alias, beat_at, timeline, is_synchronous) VALUES (%s, %s, %s, %s)
ON CONFLICT (alias) DO UPDATE SET beat_at = EXCLUDED.beat_at, timeline = EXCLUDED.timeline,
    is_synchronous = EXCLUDED.is_synchronous
WHERE sharding_pulse.beat_at < EXCLUDED.beat_at
"""
NOTE_LOSS = """
UPDATE sharding_pulse SET lost_since = least(lost_since, %s), noticed_at = clock_timestamp()
WHERE alias = %s
"""
END_LOSS = """
UPDATE sharding_pulse SET lost_since = NULL, noticed_at = NULL
WHERE alias = %s AND noticed_at = %s
"""
log = structlog.get_logger()
MAY_HAVE_LOST = process_gauge(
    "tideline_shard_may_have_lost_writes",
    "1 from when a shard was found without its last writes until it is reconciled",
    ["shard"],
)


class ShardState(NamedTuple):
    """What a shard says of itself. `reaches`: all that it had acknowledged until then is there."""

    beat_at: datetime | None
    reaches: datetime
    timeline: int
    is_synchronous: bool


def take_pulse(alias: str) -> None:
    """Compares the shard with its last pulse, and writes the next one. At most five statements.

    Safety: any number may run at once. The loss is written down before the shard is changed, so
    it is found again if the process dies in between.
    """
    before = find_pulse(alias)  # first: later the shard is never behind it
    row = fetch_one(alias, READ)
    if row is None:
        return
    state = ShardState(*row)
    lost_since = before and find_loss(before, state)
    if lost_since:
        execute(GLOBAL_ALIAS, NOTE_LOSS, (lost_since, alias))
        log.error("shard.may_have_lost_writes", shard=alias, since=lost_since.isoformat())
    elif before and before.timeline != state.timeline:
        log.warning("shard.promoted", shard=alias, timeline=state.timeline)
    _beat(alias, before, state)
    MAY_HAVE_LOST.labels(alias).set(bool(lost_since or (before and before.lost_since)))


def find_loss(before: Pulse, state: ShardState) -> datetime | None:
    """Since when writes may be missing; None: none that was acknowledged is."""
    if state.reaches < before.beat_at:
        return state.reaches
    if state.timeline != before.timeline and not before.is_synchronous:
        return state.reaches
    return None


def find_pulse(alias: str) -> Pulse | None:
    """The last pulse of a shard. One query of `default`."""
    return Pulse.objects.filter(alias=alias).first()


def list_losses() -> dict[str, str]:
    """A sentence for each shard that may have lost writes, by alias. One query of `default`."""
    pulses = Pulse.objects.filter(lost_since__isnull=False).order_by("alias")
    return {
        pulse.alias: f"may have lost writes since {pulse.lost_since:%Y-%m-%d %H:%M:%S} UTC:"
        f" run shards reconcile --shard {pulse.alias}"
        for pulse in pulses
    }


def end_loss(alias: str, noticed_at: datetime) -> None:
    """The shard was reconciled. A loss that was noticed at another time stays."""
    execute(GLOBAL_ALIAS, END_LOSS, (alias, noticed_at))


def _beat(alias: str, before: Pulse | None, state: ShardState) -> None:
    at_least = before.beat_at if before else None
    row = fetch_one(alias, BEAT, (at_least, state.beat_at, state.timeline))
    if row is not None:
        execute(GLOBAL_ALIAS, REMEMBER, (alias, row[0], state.timeline, state.is_synchronous))
