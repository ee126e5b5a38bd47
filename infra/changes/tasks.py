"""The Celery task that a wake-up starts."""

import structlog
from celery import shared_task
from django.db import close_old_connections

from infra.changes.drain import MAX_BATCHES, drain
from infra.changes.errors import UNREACHABLE
from infra.changes.lanes import LaneGroup, group_of
from infra.changes.wake_up import TASK, acknowledge, is_throttled, throttle, wake

log = structlog.get_logger()


@shared_task(name=TASK)
def drain_lane(alias: str, lane: int, ends_throttle: bool = False) -> None:
    """Drains one lane of one database, and wakes the next drainer if rows are left.

    `ends_throttle`: this drain was scheduled for the end of a throttle window.
    """
    if not ends_throttle and is_throttled(alias, lane):
        return
    # Treat each task like a request: close broken database connections when it starts.
    close_old_connections()
    acknowledge(alias, lane)
    try:
        report = drain(alias, lane, _most_batches(lane))
    except UNREACHABLE as error:
        log.warning("drain.unreachable", alias=alias, lane=lane, error=str(error))
        return
    if report.more:
        wake(alias, lane)
    elif report.delivered and group_of(lane) is LaneGroup.FOLDED:
        throttle(alias, lane)


def _most_batches(lane: int) -> int:
    """A task delivers one bulk row and queues again, so other lanes get the worker in between."""
    return 1 if group_of(lane) is LaneGroup.BULK else MAX_BATCHES
