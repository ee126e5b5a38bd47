"""The Celery task behind the bell."""

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
    """Drains one lane of one database; work left over rings the bell again.

    `ends_throttle`: this is the drain that a resting lane waits for.
    """
    if not ends_throttle and is_throttled(alias, lane):
        return
    # A task is to connections what a request is: those that broke are made anew.
    close_old_connections()
    acknowledge(alias, lane)
    try:
        report = drain(alias, lane, _most_batches(lane))
    except UNREACHABLE as error:
        log.warning("drain.unreachable", alias=alias, lane=lane, error=str(error))
        return
    if report.more:
        wake(alias, lane)
    elif report.delivered and group_of(lane) is LaneGroup.ORDINARY:
        throttle(alias, lane)


def _most_batches(lane: int) -> int:
    """A task carries one bulk row, then queues again: everybody else's bell has its turn."""
    return 1 if group_of(lane) is LaneGroup.BULK else MAX_BATCHES
