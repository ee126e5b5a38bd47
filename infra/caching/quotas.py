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

from infra.caching.keys import key
from infra.caching.questions import Question, Replies, RoundTrip
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
        period = int(now_s) // self._period_s
        with self._lock:
            taken = [self._take(claim, period) for claim in claims]
            if None not in taken:
                return self._granted(claims[0], taken[0], period)
        short = [claim for claim, allotment in zip(claims, taken, strict=True) if not allotment]
        # A claim whose period is known to be used up is refused without a round trip.
        asked = [claim for claim in short if not self._is_used_up(claim, period)]
        if asked:
            self._request_allotments(asked, period)
        with self._lock:
            refused = [c for c in short if not (c in asked and self._take(c, period))]
            if not refused:
                known = self._allotments.get(claims[0].subject)
                return self._granted(claims[0], known, period)
        return self._refused(refused[0], period)

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

    def _request_allotments(self, claims: Sequence[QuotaClaim], period: int) -> None:
        trip = RoundTrip()
        asked = {claim: trip.ask(self._ask_allotment(claim, period)) for claim in claims}
        trip.run()
        if trip.error is not None:
            log.warning("quotas.counted_locally", error=str(trip.error))
        with self._lock:
            for claim, allotted in asked.items():
                given, given_out = allotted.value
                known = self._allotments.get(claim.subject)
                if known is None or known.period != period:
                    known = _QuotaAllotment(period, 0, 0, claim.limit)
                self._allotments[claim.subject] = _QuotaAllotment(
                    period, known.left + given, given_out, known.shown
                )

    def _ask_allotment(self, claim: QuotaClaim, period: int) -> Question[tuple[int, int]]:
        """How many uses this process gets, and how many all processes have got by now."""
        most = max(1, claim.limit // ALLOTMENTS_PER_QUOTA)
        keys = [key(FAMILY, claim.subject, period)]

        def decode(replies: Replies) -> tuple[int, int]:
            given, given_out = replies[0] if replies else (claim.limit, claim.limit)
            return given, given_out

        return Question([ALLOT.on(keys, claim.limit, most, 2 * self._period_s)], decode)

    def _refused(self, claim: QuotaClaim, period: int) -> QuotaUsage:
        return QuotaUsage(False, claim.limit, 0, (period + 1) * self._period_s)

    def _granted(self, claim: QuotaClaim, known: _QuotaAllotment | None, period: int) -> QuotaUsage:
        """Call it under the lock: it reads and then writes.

        The rest is never more than before in this period, also when Redis lost its counts.
        """
        rest = claim.limit
        if known is not None:
            not_given = claim.limit - known.given_out
            rest = known.left + not_given if not_given > 0 else known.left
            known.shown = rest = min(rest, known.shown)
        return QuotaUsage(True, claim.limit, rest, (period + 1) * self._period_s)
