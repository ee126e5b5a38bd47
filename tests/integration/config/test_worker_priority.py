"""What a worker does when it begins."""

import os
import subprocess
import sys

from config.celery import WORKER_NICENESS

BEGIN = """
import os
from celery.signals import worker_init
import config.celery
worker_init.send(sender=None)
print(os.nice(0))
os._exit(0)
"""


def test_it_steps_back_behind_what_else_runs(tmp_path):
    own = {**os.environ, "RUNTIME_DIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", BEGIN]
    ended = subprocess.run(command, env=own, capture_output=True, text=True, check=True)
    assert int(ended.stdout) == min(19, os.nice(0) + WORKER_NICENESS)
