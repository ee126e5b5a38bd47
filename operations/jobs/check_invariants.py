"""Checks the invariants of the data by the audits of the apps; nothing is compared here.

drained     no change is parked, paused or older than allowed
edges       I1 forward and backward edges agree; I2 counts equal edges;
            I3 a mutual follow is mutual on both sides; I4 no follow crosses a block
counts      every count equals its rows
timelines   live timelines are complete
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from accounts.sql import LATEST_ACCOUNT_ID, NEXT_ACCOUNT_IDS
from counters.jobs.drifting_counts import audit_counters
from infra.changes.lag import LaneLag, list_lane_lags
from infra.jobs.audit import AuditRun
from infra.jobs.by_database import Pass, in_turn
from infra.jobs.findings import Pause
from infra.jobs.types import Batch, Work
from infra.sharding.sql import fetch_one
from relations.verbs import AuditEdges
from timelines.jobs.live_timelines import audit_timelines


def check_invariants(work: Work, drained: Pass, share: float, pause: Pause) -> Iterator[Batch]:
    """Checks all rows, or the rows of one account. A broken invariant counts as a failed row.

    `drained`: `check_drained`. `share`: the part of live timelines to compare, 0 to 1. Cost: the
    cost of all audits.
    """
    timelines = partial(audit_timelines, share=share, repair=False)
    return in_turn(work, drained, *_passes(pause), timelines)


def sample_invariants(
    work: Work, drained: Pass, accounts: int, draw: Callable[[], float], pause: Pause
) -> Iterator[Batch]:
    """Checks up to `accounts` random accounts of each shard. `draw` returns a number from 0 to 1.

    Cost: about twenty short statements per account.
    """
    yield from drained(work)
    timelines = partial(audit_timelines, share=1.0, repair=False)
    for alias in work.aliases:
        for account_id in _draw_accounts(alias, accounts, draw):
            part = Work([alias], account_id)
            for check in (*_passes(pause), timelines):
                # Without a position: the next sample has other accounts, so nothing can resume.
                yield from (batch._replace(position=None) for batch in check(part))


def _passes(pause: Pause) -> tuple[Pass, Pass]:
    return partial(AuditEdges.compare, run=AuditRun(pause)), audit_counters


def check_drained(most_lag_s: float, others: Sequence[str], work: Work) -> Iterator[Batch]:
    """Checks the lanes of `others`, then of the databases of the work."""
    for alias in dict.fromkeys((*others, *work.aliases)):
        lags = list_lane_lags(alias)
        lines = [*chain.from_iterable(_describe_lag(lag, most_lag_s) for lag in lags)]
        yield Batch(int(not lines), int(bool(lines)), alias, details=lines)


def _describe_lag(lag: LaneLag, most_lag_s: float) -> Iterator[str]:
    where = f"{lag.alias} lane {lag.lane}"
    if lag.oldest_s > most_lag_s:
        yield f"{where}: {lag.pending:,} changes pending, the oldest for {lag.oldest_s:,.0f} s"
    if lag.parked:
        yield f"{where}: {lag.parked:,} changes parked"
    if lag.paused:
        yield f"{where}: {lag.paused:,} changes of paused kinds"


def _draw_accounts(alias: str, count: int, draw: Callable[[], float]) -> list[int]:
    """Ids of random accounts, in order; fewer than `count` when two draws give the same account."""
    latest = fetch_one(alias, LATEST_ACCOUNT_ID)
    highest = latest[0] if latest else 0
    # From -1 to highest - 1: the statement returns the next account above the id.
    drawn = [int(draw() * highest) - 1 for _ in range(count if highest else 0)]
    rows = (fetch_one(alias, NEXT_ACCOUNT_IDS, (account_id, 1)) for account_id in drawn)
    return sorted({row[0] for row in rows if row})
