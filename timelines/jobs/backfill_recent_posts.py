"""Fills the recent-posts index of shards from the posts tables, and sets its low-water mark.

For an upgrade that brings the index, for a new shard, and for an index that lacks what the drain
could not deliver. The drain indexes what is posted during the run, so all drain processes have to
know the shard first.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import partial

from django.conf import settings

from accounts.sql import ACCOUNTS
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from posts.sql import LIVE_EVENTS
from timelines.recent.actions.index_posts import backfill_recent, count_missing
from timelines.recent.days import PARTITIONS, first_moment, first_second, kept_days, oldest_read
from timelines.recent.low_water_mark import (
    delete_low_water_mark,
    find_low_water_mark,
    lower_low_water_mark,
)
from timelines.types import Entry

POSTS = f"{LIVE_EVENTS} AND author_id = ANY(%s::bigint[]) AND moment >= %s"


def today_utc() -> date:
    return datetime.now(UTC).date()


def backfill_recent_posts(
    work: Work, again: bool = False, today: Callable[[], date] = today_utc
) -> Iterator[Batch]:
    """Adds the newest days' posts of all accounts, a batch at a time, to every shard named.

    Skips shards whose index is complete. With `again` it fills them too, and no process reads their
    index until the end. Safety: idempotent, also during writes. The mark is set at the very end,
    and not by a run with a limit. Raises: the errors in UNREACHABLE; resume then.
    Cost: per batch one query, and one statement per shard filled.
    """
    targets = [alias for alias in work.aliases if again or find_low_water_mark(alias) is None]
    if not targets:
        return
    if not work.dry_run:
        for alias in targets:
            delete_low_water_mark(alias)
            PARTITIONS.make(alias, kept_days(today()))
    lowest = first_moment(oldest_read(today()))
    everywhere = work._replace(aliases=settings.SHARD_ALIASES)
    for source, rows, position in walk_table(everywhere, ACCOUNTS):
        entries = _read_entries(source, [account_id for (account_id,) in rows], lowest)
        missing = _fill(targets, entries, work.dry_run)
        failpoint("recent_posts.backfilled")
        yield Batch(len(rows), 0, source, missing, position)
    if work.limit is None and not work.dry_run:
        for alias in targets:
            lower_low_water_mark(alias, first_second(oldest_read(today())))


def _read_entries(alias: str, author_ids: Sequence[int], lowest: int) -> list[Entry]:
    rows = fetch_all(alias, POSTS, (author_ids, lowest))
    return [Entry(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]


def _fill(targets: Sequence[str], entries: Sequence[Entry], dry_run: bool) -> int:
    """The number of missing rows, all shards together."""
    index = count_missing if dry_run else backfill_recent
    return sum(scatter({alias: partial(index, alias, entries) for alias in targets}).values())
