"""The Celery application. Its messages are wake-ups and chunk jobs; they contain no data."""

import os

from celery import Celery
from celery.signals import worker_init, worker_shutdown

from infra.telemetry.publishing import PUBLISHER, metrics_folder

# Web servers on the same machine get the processor first: a reader waits for a page, while a push
# to a hundred thousand timelines may take a little longer.
WORKER_NICENESS = 10

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("tideline")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["infra.changes"])


@worker_init.connect
def lower_priority(**_: object) -> None:
    os.nice(WORKER_NICENESS)


@worker_init.connect
def start_metrics(**_: object) -> None:
    """Metrics of the process that drains: the pool has threads, not processes."""
    PUBLISHER.publish(metrics_folder(), "worker")


@worker_shutdown.connect
def stop_metrics(**_: object) -> None:
    PUBLISHER.stop()
