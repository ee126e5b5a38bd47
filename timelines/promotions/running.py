"""The campaigns that run, in process memory: read anew every REFRESH_S by a thread of its own.

The thread begins with the first page, so a process shows its first promotion REFRESH_S later. A
page never waits for the default database.
"""

import atexit
from collections.abc import Sequence
from datetime import UTC, datetime

import structlog
from django.db import connections

from infra.background import BackgroundThread
from infra.sharding.placement import GLOBAL_ALIAS
from timelines.promotions.budget import ImpressionBudget
from timelines.promotions.settle import load_running, settle_all
from timelines.promotions.types import RunningCampaign

REFRESH_S = 2.0
log = structlog.get_logger()


class RunningCampaigns(BackgroundThread):
    """One per process, shared by its threads."""

    name = "promotions"

    def reset(self) -> None:
        """Forgets the campaigns. A forked process must not use its parent's tickets as well."""
        super().reset()
        self.budget = ImpressionBudget()
        self._campaigns: Sequence[RunningCampaign] = ()

    def campaigns(self) -> Sequence[RunningCampaign]:
        """As of REFRESH_S ago at most, while the default database answers. 0.1 µs."""
        if self._thread is None:
            self.start()
        return self._campaigns

    def refresh(self, now: datetime) -> None:
        """Reads campaigns, reports impressions, takes allotments. One query, one statement for each
        campaign with news. Raises what the database raises; what was not reported will be."""
        campaigns = load_running(now)
        settle_all(self.budget, campaigns)
        self._campaigns = campaigns

    def stop(self) -> None:
        """Ends the thread, reports, and gives all tickets back."""
        super().stop()
        self._campaigns = ()
        settle_all(self.budget, ())

    def run(self) -> None:
        while not self.stopped.wait(REFRESH_S):
            self._turn()
        connections.close_all()

    def _turn(self) -> None:
        """Whatever fails, the thread goes on: without it campaigns would run for ever."""
        try:
            self.refresh(datetime.now(UTC))
        except Exception as error:
            log.warning("promotions.not_refreshed", error=str(error))
            connections[GLOBAL_ALIAS].close()


running = RunningCampaigns()


@atexit.register
def _leave() -> None:
    """A process that ends in order takes no tickets with it."""
    try:
        running.stop()
    except Exception as error:
        log.warning("promotions.not_settled", error=str(error))
