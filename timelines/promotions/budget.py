"""The impression budget of this process: impressions that it may still make, and those to report.

The database gives out impressions of a campaign with a total cap in grants. So the cap holds
even if Redis loses everything. A process that is killed loses the rest of its grant.
"""

import threading
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one
from timelines.promotions.types import RunningCampaign

# The row lock makes concurrent settlements of one campaign run one after the other.
SETTLE = """
WITH old AS (
    SELECT id, given_out, total_cap FROM promotions_campaign WHERE id = %(id)s FOR UPDATE
), granted AS (
    SELECT id, CASE WHEN %(wanted)s <= 0 THEN %(wanted)s
        ELSE greatest(0, least(%(wanted)s, total_cap - given_out - %(uncapped)s)) END AS count
    FROM old
)
UPDATE promotions_campaign campaign SET served = served + %(shown)s,
    given_out = given_out + %(uncapped)s + granted.count
FROM granted WHERE campaign.id = granted.id RETURNING granted.count
"""


class BudgetReport(NamedTuple):
    """What a process reports to the database about one campaign.

    `shown`: impressions not reported yet. `uncapped`: those shown while the campaign had no total
    cap. `wanted`: impressions requested; below zero: returned.
    """

    campaign_id: int
    shown: int
    uncapped: int
    wanted: int


class ImpressionBudget:
    """One per process, shared by its threads. `grant` None: a campaign without a total cap."""

    def __init__(self) -> None:
        self._left: Counter[int] = Counter()
        self._shown: Counter[int] = Counter()
        self._uncapped: Counter[int] = Counter()
        self._lock = threading.Lock()

    def take(self, campaign: RunningCampaign) -> bool:
        """Whether an impression was left. The caller must `use` it or `put_back` it."""
        with self._lock:
            if campaign.grant is not None and not self._left[campaign.id]:
                return False
            self._left[campaign.id] -= campaign.grant is not None
            return True

    def put_back(self, campaign: RunningCampaign) -> None:
        with self._lock:
            self._left[campaign.id] += campaign.grant is not None

    def use(self, campaign: RunningCampaign) -> None:
        """Counts a taken impression as shown."""
        with self._lock:
            self._shown[campaign.id] += 1
            self._uncapped[campaign.id] += campaign.grant is None

    def begin_report(self, campaign_id: int, grant: int) -> BudgetReport:
        """Takes the unreported impressions out of the budget. `grant`: how many to have then.

        With 0 all impressions left are returned. The caller ends or undoes the report.
        """
        with self._lock:
            left = self._left[campaign_id]
            if not grant:
                del self._left[campaign_id]
            shown = self._shown.pop(campaign_id, 0)
            uncapped = self._uncapped.pop(campaign_id, 0)
            wanted = max(0, grant - left) if grant else -left
            return BudgetReport(campaign_id, shown, uncapped, wanted)

    def end_report(self, campaign_id: int, granted: int) -> None:
        """The database has the report and granted so many impressions."""
        with self._lock:
            self._left[campaign_id] += max(0, granted)

    def undo_report(self, report: BudgetReport) -> None:
        """The database may not have the report: its impressions are reported again.

        What it returns is lost: returned twice, it would raise the cap.
        """
        with self._lock:
            self._shown[report.campaign_id] += report.shown
            self._uncapped[report.campaign_id] += report.uncapped

    def campaigns(self) -> set[int]:
        """The campaigns with impressions left or to report."""
        with self._lock:
            return {i for i in {*self._left, *self._shown} if self._left[i] or self._shown[i]}


def settle_all(budget: ImpressionBudget, running: Sequence[RunningCampaign]) -> None:
    """Reports every campaign and takes grants for those that run.

    Raises what the database raises; then the report is kept for the next time. Cost: one statement
    for each campaign with something to report or request.
    """
    grants = {campaign.id: campaign.grant or 0 for campaign in running}
    for campaign_id in sorted({*grants, *budget.campaigns()}):
        report = budget.begin_report(campaign_id, grants.get(campaign_id, 0))
        if report.shown or report.wanted:
            try:
                granted = _settle(report)
            except Exception:
                budget.undo_report(report)
                raise
            budget.end_report(campaign_id, granted)


def _settle(report: BudgetReport) -> int:
    """Stores a report; returns how many impressions the database granted. One statement."""
    row = fetch_one(GLOBAL_ALIAS, SETTLE, {"id": report.campaign_id, **report._asdict()})
    return int(row[0]) if row else 0
