"""Quotas (X6): a number of uses per period, counted in Redis, given to processes in allotments.

    caching.quota:v1:{subject}:<period>   how many uses of this period were given to processes

An allotment is a hundredth of the quota, so that most requests cost no round trip. Never more than
the quota is used. A caller whose requests reach many processes may be refused while each of them
has at most one allotment unused. Without Redis each process counts for itself.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog
from cachebox import LRUCache
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.caching.questions import Replies
from infra.caching.scripts import load_script

ALLOT = load_script(Path(__file__).with_name("lua") / "quota_allot.lua")
FAMILY = "caching.quota:v1"
ALLOTMENTS_PER_QUOTA = 100
MOST_SUBJECTS = 100_000
log = structlog.get_logger()


class QuotaClaim(NamedTuple):
    """One use of one subject's quota."""

    subject: str
    limit: int


class QuotaUsage(msgspec.Struct, frozen=True):
    """`remaining`: uses left, as far as this process knows; it never grows within a period.
    `reset_at`: Unix seconds.
    """

    is_granted: bool
    limit: int
    remaining: int
    reset_at: int


class _QuotaAllotment:
    """What this process may still use of one period. `shown`: the rest that it last answered."""

    __slots__ = ("given_out", "left", "period", "shown")

    def __init__(self, period: int, left: int, given_out: int, shown: int) -> None:
        self.period, self.left, self.given_out, self.shown = period, left, given_out, shown


class Quotas:
    """One per process and period length, shared by its threads."""

    def __init__(self, period_s: int) -> None:
        self._period_s = period_s
        self._allotments: LRUCache[str, _QuotaAllotment] = LRUCache(MOST_SUBJECTS)
        self._lock = threading.Lock()

    def use(self, claims: Sequence[QuotaClaim], now_s: float) -> QuotaUsage:
        """Uses one of each claim's quota. Returns the usage of the first refused claim, or of the
        first claim.

        Cost: one round trip when an allotment is used up.
        """
        use = self.begin(claims, now_s)
        return use.usage or use.ask()

    def begin(self, claims: Sequence[QuotaClaim], now_s: float) -> "QuotaUse":
        """A use that may have to ask for an allotment."""
        use = QuotaUse(self, claims, int(now_s) // self._period_s)
        with self._lock:
            use.try_granting()
        return use

    def find_used_up(self, claim: QuotaClaim, now_s: float) -> QuotaUsage | None:
        """The usage if this process knows that the quota is used up. Uses nothing, asks nothing."""
        period = int(now_s) // self._period_s
        with self._lock:
            is_used_up = self._is_used_up(claim, period)
        return self._refused(claim, period) if is_used_up else None

    def _take(self, claim: QuotaClaim, period: int) -> _QuotaAllotment | None:
        """The allotment that gave one use; None: it has none left. Call it under the lock."""
        allotment = self._allotments.get(claim.subject)
        if allotment is None or allotment.period != period or allotment.left <= 0:
            return None
        allotment.left -= 1
        return allotment

    def _is_used_up(self, claim: QuotaClaim, period: int) -> bool:
        known = self._allotments.get(claim.subject)
        if known is None or known.period != period or known.left > 0:
            return False
        return known.given_out >= claim.limit

    def _ask_allotment(self, claim: QuotaClaim, period: int) -> Command:
        """How many uses this process gets, and how many all processes have got by now."""
        most = max(1, claim.limit // ALLOTMENTS_PER_QUOTA)
        keys = [key(FAMILY, claim.subject, period)]
        return ALLOT.on(keys, claim.limit, most, 2 * self._period_s)

    def _receive(self, claim: QuotaClaim, period: int, reply: Sequence[int] | None) -> None:
        """Call it under the lock. `reply`: to `_ask_allotment`; None without Redis."""
        given, given_out = reply if reply is not None else (claim.limit, claim.limit)
        known = self._allotments.get(claim.subject)
        if known is None or known.period != period:
            known = _QuotaAllotment(period, 0, 0, claim.limit)
        self._allotments[claim.subject] = _QuotaAllotment(
            period, known.left + given, given_out, known.shown
        )

    def _refused(self, claim: QuotaClaim, period: int) -> QuotaUsage:
        return QuotaUsage(False, claim.limit, 0, (period + 1) * self._period_s)

    def _granted(self, claim: QuotaClaim, known: _QuotaAllotment | None, period: int) -> QuotaUsage:
        """Call it under the lock: it reads and then writes.

        What is left is never more than before in this period, also when Redis lost its counts.
        """
        left = claim.limit
        if known is not None:
            not_given = claim.limit - known.given_out
            left = known.left + not_given if not_given > 0 else known.left
            known.shown = left = min(left, known.shown)
        return QuotaUsage(True, claim.limit, left, (period + 1) * self._period_s)


class QuotaUse:
    """One use of several quotas. `usage`: None until the replies to `commands` are received."""

    def __init__(self, quotas: Quotas, claims: Sequence[QuotaClaim], period: int) -> None:
        self._quotas, self._claims, self._period = quotas, claims, period
        self._short: Sequence[QuotaClaim] = claims
        self._asked: Sequence[QuotaClaim] = ()
        self.usage: QuotaUsage | None = None

    def try_granting(self) -> None:
        """Call it under the lock, once. A claim whose period is known to be used up is refused
        without a round trip."""
        quotas, period = self._quotas, self._period
        self._short = [claim for claim in self._claims if not quotas._take(claim, period)]
        self._asked = [claim for claim in self._short if not quotas._is_used_up(claim, period)]
        if not self._asked:
            self._finish(self._short)

    @property
    def commands(self) -> Sequence[Command]:
        return [self._quotas._ask_allotment(claim, self._period) for claim in self._asked]

    def ask(self) -> QuotaUsage:
        """Gets the allotments in a round trip of its own."""
        replies: Replies = None
        try:
            replies = redis().run(self.commands)
        except RedisError as error:
            log.warning("quotas.counted_locally", error=str(error))
        return self.receive(replies)

    def receive(self, replies: Replies) -> QuotaUsage:
        """`replies`: to the commands; None: Redis is away, so this process counts for itself."""
        quotas, period = self._quotas, self._period
        with quotas._lock:
            for number, claim in enumerate(self._asked):
                quotas._receive(claim, period, replies[number] if replies else None)
            asked = self._asked
            return self._finish(
                [c for c in self._short if not (c in asked and quotas._take(c, period))]
            )

    def _finish(self, refused: Sequence[QuotaClaim]) -> QuotaUsage:
        quotas, claim = self._quotas, self._claims[0]
        if refused:
            self.usage = quotas._refused(refused[0], self._period)
        else:
            known = quotas._allotments.get(claim.subject)
            self.usage = quotas._granted(claim, known, self._period)
        return self.usage
