"""What must hold of the data, asked of each app's own audit: nothing is compared here.

drained     no change is parked, paused or older than it may be
edges       I1 forward edges and backward edges say the same; I2 as many as are counted;
            I3 a mutual follow is one from both sides; I4 nobody follows across a block
counts      every count equals its rows
timelines   live timelines have what they promise
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from counters.jobs.audit_counters import audit_counters
from infra.changes.lag import LaneLag, list_lane_lags
from infra.jobs.passes import Pass, in_turn
from infra.jobs.types import Batch, Work
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one
from relations.jobs.audit_edges import audit_edges
from relations.jobs.audit_forward import Pause
from timelines.jobs.audit_timelines import audit_timelines

LATEST = "SELECT coalesce(max(id), 0) FROM accounts_account"
NEXT = "SELECT id FROM accounts_account WHERE id >= %s ORDER BY id LIMIT 1"


def check_invariants(work: Work, most_lag_s: float, share: float, pause: Pause) -> Iterator[Batch]:
    """Goes through everything, or what one account owns; what does not hold has failed.

    `share`: of the live timelines that are compared. Cost: that of the audits together.
    """
    timelines = partial(audit_timelines, share=share, repair=False)
    return in_turn(work, partial(_check_drained, most_lag_s), *_passes(pause), timelines)


def sample_invariants(
    work: Work, most_lag_s: float, accounts: int, draw: Callable[[], float], pause: Pause
) -> Iterator[Batch]:
    """The same of so many accounts of each shard, behind places that are drawn from 0 to 1.

    Cost: about twenty short statements an account.
    """
    yield from _check_drained(most_lag_s, work)
    timelines = partial(audit_timelines, share=1.0, repair=False)
    for alias in work.aliases:
        for account_id in _draw_accounts(alias, accounts, draw):
            one = Work([alias], account_id)
            for check in (*_passes(pause), timelines):
                # A sample is drawn anew: there is no place to go on from.
                yield from (batch._replace(position=None) for batch in check(one))


def _passes(pause: Pause) -> tuple[Pass, Pass]:
    return partial(audit_edges, repair=False, pause=pause), audit_counters


def _check_drained(most_lag_s: float, work: Work) -> Iterator[Batch]:
    """The default database belongs to every choice of shards."""
    for alias in dict.fromkeys((GLOBAL_ALIAS, *work.aliases)):
        lines = [*chain.from_iterable(_behind(lag, most_lag_s) for lag in list_lane_lags(alias))]
        yield Batch(int(not lines), int(bool(lines)), alias, details=lines)


def _behind(lag: LaneLag, most_lag_s: float) -> Iterator[str]:
    where = f"{lag.alias} lane {lag.lane}"
    if lag.oldest_s > most_lag_s:
        yield f"{where}: {lag.pending:,} changes pending, the oldest for {lag.oldest_s:,.0f} s"
    if lag.parked:
        yield f"{where}: {lag.parked:,} changes parked"
    if lag.paused:
        yield f"{where}: {lag.paused:,} changes of paused kinds"


def _draw_accounts(alias: str, count: int, draw: Callable[[], float]) -> list[int]:
    """Fewer, when places fall on the same one."""
    latest = fetch_one(alias, LATEST)
    most = latest[0] if latest else 0
    found = (fetch_one(alias, NEXT, (int(draw() * most),)) for _ in range(count if most else 0))
    return sorted({row[0] for row in found if row})
