"""The Celery application. It carries wake-ups and chunk jobs, never data."""

import os

from celery import Celery
from celery.signals import worker_init, worker_shutdown

from infra.sight.publishing import PUBLISHER, metrics_folder

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("tideline")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["infra.changes"])


@worker_init.connect
def begin_sight(**_: object) -> None:
    """In the process that drains: the pool has threads, not processes."""
    PUBLISHER.start(metrics_folder(), "worker")


@worker_shutdown.connect
def end_sight(**_: object) -> None:
    PUBLISHER.stop()
