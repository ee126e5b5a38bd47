"""The running campaigns in process memory; a background thread reads them again every REFRESH_S.

The first page starts the thread, so a process shows its first promotion REFRESH_S later. A page
never waits for the default database.
"""

import atexit
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from django.db import connections

from infra.background import BackgroundThread
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from timelines.promotions.budget import ImpressionBudget, settle_all
from timelines.promotions.types import Ad, CampaignKind, RunningCampaign

REFRESH_S = 2.0
# One grant is this part of what is left of the total cap; at least 1, at most MOST_GRANTED.
GRANTS_PER_CAP, MOST_GRANTED = 200, 500
RUNNING = """
SELECT id, kind, post_id, account_id, ad_title, ad_text, ad_url, slot, every, daily_cap,
    audience_percent, extract(epoch FROM starts_at)::float8, extract(epoch FROM ends_at)::float8,
    CASE WHEN total_cap IS NOT NULL THEN least(%s, greatest(1, (total_cap - given_out) / %s)) END
FROM promotions_campaign WHERE NOT is_paused AND ends_at > %s ORDER BY id
"""
TARGETS = 5  # columns of RUNNING after `kind`
log = structlog.get_logger()


def load_running(now: datetime) -> Sequence[RunningCampaign]:
    """The campaigns that run now or will run. One query."""
    params = (MOST_GRANTED, GRANTS_PER_CAP, now)
    return [_campaign(*row) for row in fetch_all(GLOBAL_ALIAS, RUNNING, params)]


def _campaign(campaign_id: int, word: str, *row: Any) -> RunningCampaign:
    """From one row of RUNNING."""
    kind = CampaignKind(word)
    post_id, account_id, *ad = row[:TARGETS]
    if kind is CampaignKind.POST:
        return RunningCampaign(campaign_id, kind, PostId.from_base36(post_id), *row[TARGETS:])
    target = account_id if kind is CampaignKind.ACCOUNT else Ad(*ad)
    return RunningCampaign(campaign_id, kind, target, *row[TARGETS:])


class RunningCampaigns(BackgroundThread):
    """The campaigns and the impression budget of this process, shared by its threads."""

    name = "promotions"

    def reset(self) -> None:
        """Forgets the campaigns. A forked process must not use its parent's budget as well."""
        super().reset()
        self.budget = ImpressionBudget()
        self._campaigns: Sequence[RunningCampaign] = ()

    def campaigns(self) -> Sequence[RunningCampaign]:
        """At most REFRESH_S old while the default database answers. Cost: no store."""
        if self._thread is None:
            self.start()
        return self._campaigns

    def refresh(self, now: datetime) -> None:
        """Reads the campaigns, reports impressions and takes grants.

        Raises what the database raises; the next refresh reports what this one did not. Cost: one
        query, and one statement for each campaign with something to report or request.
        """
        campaigns = load_running(now)
        settle_all(self.budget, campaigns)
        self._campaigns = campaigns

    def stop(self) -> None:
        """Ends the thread, reports, and returns the rest of the budget."""
        super().stop()
        self._campaigns = ()
        settle_all(self.budget, ())

    def run(self) -> None:
        while not self.stopped.wait(REFRESH_S):
            self._refresh_or_log()
        connections.close_all()

    def _refresh_or_log(self) -> None:
        """The thread survives every error: without it ended campaigns would never stop."""
        try:
            self.refresh(datetime.now(UTC))
        except Exception as error:
            log.warning("promotions.not_refreshed", error=str(error))
            connections[GLOBAL_ALIAS].close()


running_campaigns = RunningCampaigns()


@atexit.register
def _return_budget() -> None:
    """A process that ends in order returns the rest of its budget."""
    try:
        running_campaigns.stop()
    except Exception as error:
        log.warning("promotions.not_settled", error=str(error))
