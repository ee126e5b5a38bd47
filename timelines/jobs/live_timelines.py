"""The walk of jobs over live timelines: all accounts, and the timelines of those who have one."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from infra.jobs.types import Work
from infra.jobs.walk import Table, walk_table
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

ACCOUNTS = Table("accounts_account", ("id",))
# Each may have a timeline of 18 KB, and all of a batch are read together.
BATCH_SIZE = 100


class LiveBatch(NamedTuple):
    """Accounts of one shard, so many, and the timelines that can be read, by reader."""

    alias: str
    account_count: int
    timelines: Mapping[int, LiveTimeline]
    position: Any


def iter_live_timelines(work: Work) -> Iterator[LiveBatch]:
    """What is not live is counted only. One query and one round trip a piece."""
    for alias, rows, position in walk_table(work, ACCOUNTS):
        timelines = timeline_store().peek([account_id for (account_id,) in rows])
        yield LiveBatch(alias, len(rows), timelines, position)
