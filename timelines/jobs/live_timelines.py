"""Walks over all accounts, for jobs that read the live timelines."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from accounts.sql import ACCOUNTS
from infra.jobs.types import Work
from infra.jobs.walk import walk_table
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

# A timeline may have 18 KB, and all of a batch are read together.
BATCH_SIZE = 100


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
