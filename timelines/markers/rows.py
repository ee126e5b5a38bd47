"""Reads and deletes an account's markers: rows on the account's shard."""

from collections.abc import Collection

from infra.jobs.walk import Table
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from timelines.markers.types import MarkerState, Timeline

MARKERS = Table("markers_marker", ("account_id", "timeline"))
READ = """
SELECT timeline, last_read_id, version, updated_at, seen_ms FROM markers_marker
WHERE account_id = %s AND timeline = ANY(%s::smallint[]) ORDER BY timeline
"""
DELETE = "DELETE FROM markers_marker WHERE account_id = %s AND timeline = %s"


def read_markers(account_id: int, timelines: Collection[Timeline]) -> dict[Timeline, MarkerState]:
    """The markers of these timelines that were ever set. One query by primary key."""
    params = (account_id, [int(timeline) for timeline in timelines])
    rows = fetch_all(shard_of(account_id), READ, params)
    return {Timeline(timeline): MarkerState(*state) for timeline, *state in rows}


def delete_marker(account_id: int, timeline: int) -> None:
    """Deletes one marker. Safety: idempotent. Cost: one statement."""
    execute(shard_of(account_id), DELETE, (account_id, timeline))
