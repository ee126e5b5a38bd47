"""Announces follows and blocks whose rows another program wrote or deleted."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from accounts.errors import AccountNotFound
from counters.jobs.drifting_counts import repair
from infra.changes.failpoints import failpoint
from infra.jobs.announce import AnnouncedRows, Key, number_in
from infra.sharding.sql import fetch_all
from relations.jobs.edge_sightings import EDGE, FORWARD, ON_PAIR, PAIRS, forward_of
from relations.jobs.repair import mirror_again
from relations.queries.edges import Pair, group_by_followee_shard, load_backward_edges, pair_columns
from relations.sql import FORWARD_TABLE, KIND
from relations.types import NO_EDGE, Edge

LATEST_MS = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * 1000
# As rows of FORWARD. A pair without a row has revision 0.
FIND = f"""
SELECT pair.follower_id, {KIND}, {EDGE.removeprefix("pair.follower_id, ")}
{PAIRS} LEFT JOIN {FORWARD_TABLE} e {ON_PAIR}
"""


def announce(alias: str, rows: Sequence[Any]) -> list[str]:
    """Writes each edge once more with a higher revision than both sides have, and what it is. Then
    the counts of the followers are made equal to their rows. A deleted edge is one that ended.

    Cost: a query for each shard of followees; a transaction of five statements for each edge, and
    as `repair` for each follower.
    """
    forward = forward_of(rows)
    backward = _load_backward(forward)
    failed = [line for pair in forward if (line := _announce_one(pair, forward, backward))]
    failpoint("relations.rows_announced")
    for follower_id in dict.fromkeys(follower_id for follower_id, _ in forward):
        repair(alias, follower_id)
    return failed


def _load_backward(forward: Mapping[Pair, Edge]) -> dict[Pair, Edge]:
    return {
        pair: edge
        for target, group in group_by_followee_shard(forward).items()
        for pair, edge in load_backward_edges(target, group).items()
    }


def _announce_one(
    pair: Pair, forward: Mapping[Pair, Edge], backward: Mapping[Pair, Edge]
) -> str | None:
    above = max(forward[pair].revision, backward.get(pair, NO_EDGE).revision)
    try:
        mirror_again(pair, above)
    except AccountNotFound:
        return f"edge {pair[0]} → {pair[1]}: account {pair[0]} does not exist"
    return None


def _parse(text: str) -> Key:
    follower, followee = text.split()
    return number_in(follower), number_in(followee)


def _find(alias: str, keys: Sequence[Key]) -> list[tuple[Any, ...]]:
    return fetch_all(alias, FIND, pair_columns(keys))  # type: ignore[arg-type]


def _moments(row: Sequence[Any]) -> Sequence[datetime]:
    """Another program may write a number that is no time of a calendar: then the nearest one."""
    return [datetime.fromtimestamp(min(max(row[5], 0), LATEST_MS) / 1000, UTC)]


FOLLOWS = AnnouncedRows(
    FORWARD,
    parse=_parse,
    find=_find,
    moments=_moments,
    name=lambda row: f"edge {row[0]} → {row[2]}",
    announce=announce,
)
