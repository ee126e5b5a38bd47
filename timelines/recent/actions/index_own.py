"""Adds posts to the index of their authors' shards only, and says when they became visible."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import OperationalError

from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from timelines.recent.actions.index_posts import (
    backfill_recent,
    columns_of_entries,
    remove_recent,
)
from timelines.recent.actions.settle_posts import SETTLE, settle_in_time
from timelines.recent.low_water_mark import HAS_OWN, begin_own_only, has_own_only
from timelines.recent.packs import append_to_packs, drop_packs
from timelines.recent.records import Arrival
from timelines.types import Entry

# A statement does not see the rows that it adds: the second part finds those from before.
ADD = f"""
WITH one AS (
    SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
        AS one (author_id, moment, shown_author, shown_moment)
    WHERE EXISTS ({HAS_OWN})
), added AS (
    INSERT INTO timelines_recentpost (author_id, moment, shown_author, shown_moment)
    SELECT * FROM one ON CONFLICT DO NOTHING RETURNING author_id, moment, arrival
)
SELECT author_id, moment, arrival, true FROM added
UNION ALL
SELECT author_id, moment, COALESCE(settled, arrival), false
FROM timelines_recentpost JOIN one USING (author_id, moment)
"""  # noqa: S608
SETTLE_OWN = f"""
{SETTLE}
RETURNING post.author_id, post.moment, COALESCE(post.shown_author, post.author_id),
    COALESCE(post.shown_moment, post.moment), post.settled
"""
MOST_TRIES = 5
Rows = Sequence[tuple[Any, ...]]


def index_own(entries: Sequence[Entry]) -> int:
    """Adds entries to the index of their authors' shards, then to the packs; returns how many were
    missing.

    Raises: the errors in UNREACHABLE; then push to no readers. Safety: idempotent, in any order.
    Cost: one statement on each shard of the authors, one round trip. The first worker with this
    setting also asks all shards.
    """
    wanted = {entry.event: entry for entry in entries}
    rows = _add_rows(_by_shard(wanted))
    failpoint("recent_posts.own_rows_added")
    append_to_packs(
        Arrival(wanted[PostId.at(*row[:2])], visible_ms) for *row, visible_ms, _ in rows
    )
    return sum(is_new for *_, is_new in rows)


def add_own_old(entries: Sequence[Entry]) -> None:
    """Adds entries to the index of their authors' shards, as if they had been there for long.

    Raises, safety and cost: as `settle_own`.
    """
    groups = _by_shard({entry.event: entry for entry in entries})
    scatter(
        {
            alias: partial(backfill_recent, alias, [*group.values()])
            for alias, group in groups.items()
        }
    )
    drop_packs({entry.event.author_id for entry in entries})


def settle_own(events: Collection[PostId]) -> None:
    """Records that posts became visible only now, for all readers.

    Raises: the errors in UNREACHABLE. Safety: idempotent. Cost: one statement on each shard of the
    authors, and a round trip.
    """
    groups = _by_shard({event: Entry.of_post(event) for event in events})
    scatter({alias: partial(_settle, alias, sorted(group)) for alias, group in groups.items()})


def remove_own(events: Collection[PostId]) -> None:
    """Removes deleted posts from the index of their authors' shards, and drops the packs.

    Raises, safety and cost: as `settle_own`.
    """
    groups = _by_shard({event: Entry.of_post(event) for event in events})
    scatter({alias: partial(remove_recent, alias, list(group)) for alias, group in groups.items()})
    drop_packs({event.author_id for event in events})


def _add_rows(groups: Mapping[str, Mapping[PostId, Entry]]) -> list[tuple[Any, ...]]:
    """The rows of all entries. Some are missing when workers may not write like this yet, or when
    another one has added the same at this moment."""
    for _ in range(MOST_TRIES):
        answers = scatter(
            {alias: partial(_add, alias, list(group.values())) for alias, group in groups.items()}
        )
        lacking = [alias for alias, rows in answers.items() if len(rows) < len(groups[alias])]
        if not lacking:
            return [row for rows in answers.values() for row in rows]
        if not all(map(has_own_only, lacking)):
            begin_own_only()
    raise OperationalError(f"posts were not indexed on {', '.join(lacking)}")


def _add(alias: str, entries: Sequence[Entry]) -> Rows:
    return fetch_all(alias, ADD, columns_of_entries(entries))


def _settle(alias: str, events: Sequence[PostId]) -> None:
    settle_in_time(partial(_settle_once, alias, events))


def _settle_once(alias: str, events: Sequence[PostId], ahead_ms: int) -> int:
    """The time counts from when the packs have it."""
    columns = [event.author_id for event in events], [event.moment for event in events]
    rows = fetch_all(alias, SETTLE_OWN, (ahead_ms, *columns))
    append_to_packs(
        Arrival(Entry(PostId.at(*row[:2]), PostId.at(*row[2:4])), row[4]) for row in rows
    )
    return len(rows)


def _by_shard(entries: Mapping[PostId, Entry]) -> dict[str, dict[PostId, Entry]]:
    groups: dict[str, dict[PostId, Entry]] = {}
    for event, entry in entries.items():
        groups.setdefault(shard_of(event.author_id), {})[event] = entry
    return groups
