"""Celery for Stream-Framework, whose tasks carry pickled feed managers. Starts the worker.

python -m celery -A lab.bench.peers.contenders.queue worker
"""

import os

import django
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lab.bench.peers.contenders.settings")
django.setup()

from django.conf import settings  # noqa: E402 - set up before

app = Celery(
    "contenders", broker=f"redis+socket://{settings.REDIS_SOCKET}?virtual_host={settings.BROKER_DB}"
)
app.conf.update(
    task_serializer="pickle",
    accept_content=["pickle"],
    task_ignore_result=True,
    # Tasks that a killed worker had taken but not begun return after this; by default in an hour.
    broker_transport_options={
        "visibility_timeout": 5,
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
    },
)
app.set_default()

from lab.bench.peers.contenders import feeds  # noqa: E402, F401 - the worker unpickles its classes
