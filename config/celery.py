"""The Celery application. It carries wake-ups and chunk jobs, never data."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("tideline")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["infra.changes"])
