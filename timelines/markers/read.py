"""Reads an account's markers."""

from collections.abc import Collection

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from timelines.markers.types import MarkerState, Timeline

READ = """
SELECT timeline, last_read_id, version, updated_at FROM markers_marker
WHERE account_id = %s AND timeline = ANY(%s::smallint[]) ORDER BY timeline
"""


def read_markers(account_id: int, timelines: Collection[Timeline]) -> dict[Timeline, MarkerState]:
    """Those of the timelines' markers that were ever set. One query by primary key."""
    params = (account_id, [int(timeline) for timeline in timelines])
    rows = fetch_all(shard_of(account_id), READ, params)
    return {Timeline(timeline): MarkerState(*marked) for timeline, *marked in rows}
