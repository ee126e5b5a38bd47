"""Walks all live timelines: to find what they lack, to repair them, to remove what is stale."""

import random
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from accounts.sql import ACCOUNTS
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from timelines.actions.repair_timeline import describe_repair, repair_timeline
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.stores.factory import timeline_store
from timelines.stores.weeks import delete_expired
from timelines.types import LiveTimeline

# A timeline may have 18 KB, and all of a batch are read together.
BATCH_SIZE = 100
# Few stale entries are not worth a write.
STALE_RATIO = 0.25


class LiveBatch(NamedTuple):
    """Some accounts of one shard, and those of their timelines that can be read, by reader."""

    alias: str
    account_count: int
    timelines: Mapping[int, LiveTimeline]
    position: Any


def iter_live_timelines(work: Work) -> Iterator[LiveBatch]:
    """Batches of accounts with their live timelines. One query and one round trip a batch."""
    for alias, rows, position in walk_table(work, ACCOUNTS):
        timelines = timeline_store().peek([account_id for (account_id,) in rows])
        yield LiveBatch(alias, len(rows), timelines, position)


def audit_timelines(
    work: Work, share: float, repair: bool, draw: Callable[[], float] = random.random
) -> Iterator[Batch]:
    """Compares about this share of the live timelines with the posts.

    A timeline with missing entries counts as failed; with `repair` it is repaired and counts as
    changed. Stale entries are no failure: the rules keep them from pages. Cost: a query and a round
    trip a batch, and the cost of `find_difference` per timeline compared.
    """
    for batch in iter_live_timelines(work):
        chosen = {reader: seen for reader, seen in batch.timelines.items() if draw() < share}
        differences = {reader: find_difference(reader, seen) for reader, seen in chosen.items()}
        faulty = {
            reader: difference
            for reader, difference in differences.items()
            if difference and difference.missing
        }
        is_repaired = repair and not work.dry_run
        lines = [
            _lacking_line(reader, difference, is_repaired) for reader, difference in faulty.items()
        ]
        if is_repaired:
            for reader, difference in faulty.items():
                repair_timeline(reader, difference)
        failed = 0 if repair else len(faulty)
        changed = len(faulty) if repair else None
        done = batch.account_count - failed
        yield Batch(done, failed, batch.alias, changed, batch.position, lines)


def parse_share(text: str) -> float:
    """A number above 0, at most 1, as an argument of a command."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise ArgumentTypeError(f"{text!r} is not a number above 0, at most 1")
    return number


def _lacking_line(reader_id: int, difference: TimelineDifference, is_repaired: bool) -> str:
    orphaned, below = len(difference.orphaned), len(difference.below_mark)
    counts = f"{len(difference.missing)} missing, {orphaned} orphaned, {below} below the mark"
    more = ", and more than it can hold" if difference.is_too_deep else ""
    return f"account {reader_id}: {counts}{more}{': repaired' if is_repaired else ''}"


def rebuild_timelines(work: Work) -> Iterator[Batch]:
    """Adds missing entries to live timelines and removes stale ones, a batch of accounts at a time.

    Timelines stay readable and keep what is pushed during the run (actions/repair_timeline.py). It
    builds no timeline that is not live; the reader's next page does.
    Cost: as `audit timelines`, and two round trips per timeline that differs.
    """
    for batch in iter_live_timelines(work):
        lines, changed = [], 0
        for reader_id, seen in batch.timelines.items():
            difference = find_difference(reader_id, seen)
            if not difference:
                continue
            changed += 1
            lines += describe_repair(reader_id, difference)
            if not work.dry_run:
                repair_timeline(reader_id, difference)
        yield Batch(batch.account_count, 0, batch.alias, changed, batch.position, lines)


def vacuum_timelines(work: Work, stale_ratio: float = STALE_RATIO) -> Iterator[Batch]:
    """Removes stale entries from timelines with more than this share of them, a batch at a time.

    First deletes the expired timelines of the stores in rows, unless the run is for one account.
    Adds nothing: `audit timelines` finds missing entries. Cost: as `audit timelines`, and one round
    trip per timeline that is written.
    """
    if work.account_id is None and not work.dry_run:
        for alias in work.aliases:
            yield from _delete_all_expired(alias)
    for batch in iter_live_timelines(work):
        lines, changed = [], 0
        for reader_id, seen in batch.timelines.items():
            difference = find_difference(reader_id, seen)
            if difference is None or not exceeds_stale_ratio(difference, stale_ratio):
                continue
            changed += 1
            lines.append(_stale_line(reader_id, difference))
            if not work.dry_run:
                timeline_store().remove(reader_id, difference.seen, difference.stale)
        yield Batch(batch.account_count, 0, batch.alias, changed, batch.position, lines)


def _delete_all_expired(alias: str) -> Iterator[Batch]:
    """A periodic task does so too, a few at a time. Redis deletes expired timelines by itself."""
    while deleted := delete_expired(alias):
        yield Batch(0, 0, alias, deleted, None, [f"{alias}: {deleted} expired timelines"])


def exceeds_stale_ratio(difference: TimelineDifference, stale_ratio: float) -> bool:
    return len(difference.stale) > stale_ratio * difference.entry_count


def _stale_line(reader_id: int, difference: TimelineDifference) -> str:
    stale = f"{len(difference.stale)} of {difference.entry_count} entries are stale"
    return f"account {reader_id}: {stale}"
