"""The Celery task behind the bell."""

import structlog
from celery import shared_task
from django.db import close_old_connections

from infra.changes.bell import TASK, answer, ring
from infra.changes.drain import drain
from infra.changes.errors import UNREACHABLE

log = structlog.get_logger()


@shared_task(name=TASK)
def drain_lane(alias: str, lane: int) -> None:
    """Drains one lane of one database; work left over rings the bell again."""
    # A task is to connections what a request is: those that broke are made anew.
    close_old_connections()
    answer(alias, lane)
    try:
        report = drain(alias, lane)
    except UNREACHABLE as error:
        log.warning("drain.unreachable", alias=alias, lane=lane, error=str(error))
        return
    if report.more:
        ring(alias, lane)
