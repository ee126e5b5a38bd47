"""Impressions that this process may still make, and those it made and has not reported.

Tickets of a campaign with a total cap are given out by the database in parts (settle.py), so the
cap holds whatever happens to Redis. A process that is killed loses what it holds.
"""

import threading
from collections import Counter
from typing import NamedTuple

from timelines.promotions.types import RunningCampaign


class BudgetReport(NamedTuple):
    """What a process tells the database of one campaign.

    `shown`: impressions not reported yet. `unallotted`: those of them that had no ticket. `wanted`:
    tickets asked for; below zero: given back.
    """

    campaign_id: int
    shown: int
    unallotted: int
    wanted: int


class ImpressionBudget:
    """One per process, shared by its threads."""

    def __init__(self) -> None:
        self._left: Counter[int] = Counter()
        self._shown: Counter[int] = Counter()
        self._unleased: Counter[int] = Counter()
        self._lock = threading.Lock()

    def take(self, campaign: RunningCampaign) -> bool:
        """Whether there is one; it is to be used or put back."""
        with self._lock:
            if campaign.allotment is not None and not self._left[campaign.id]:
                return False
            self._left[campaign.id] -= campaign.allotment is not None
            return True

    def put_back(self, campaign: RunningCampaign) -> None:
        with self._lock:
            self._left[campaign.id] += campaign.allotment is not None

    def use(self, campaign: RunningCampaign) -> None:
        """One that was taken has become an impression."""
        with self._lock:
            self._shown[campaign.id] += 1
            self._unleased[campaign.id] += campaign.allotment is None

    def begin_report(self, campaign_id: int, allotment: int) -> BudgetReport:
        """What is to be reported, held no longer. `allotment`: how many to have; 0: none."""
        with self._lock:
            left = self._left[campaign_id]
            if not allotment:
                del self._left[campaign_id]
            shown = self._shown.pop(campaign_id, 0)
            unallotted = self._unleased.pop(campaign_id, 0)
            return BudgetReport(
                campaign_id, shown, unallotted, max(0, allotment - left) if allotment else -left
            )

    def end_report(self, campaign_id: int, granted: int) -> None:
        """The database has it, and has given so many."""
        with self._lock:
            self._left[campaign_id] += max(0, granted)

    def undo_report(self, report: BudgetReport) -> None:
        """The database does not have it: it will be told again."""
        with self._lock:
            self._shown[report.campaign_id] += report.shown
            self._unleased[report.campaign_id] += report.unallotted
            self._left[report.campaign_id] += max(0, -report.wanted)

    def campaigns(self) -> set[int]:
        """Those there is something to report of."""
        with self._lock:
            return {i for i in {*self._left, *self._shown} if self._left[i] or self._shown[i]}
