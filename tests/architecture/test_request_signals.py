"""What runs around every request beside the view: each look at all databases or caches costs."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

# In a process of its own: Django's test client connects what the product has disconnected.
ASK = """
import json
import django
django.setup()
from django.core.signals import request_finished, request_started
import config.urls

def names(signal):
    return sorted(receiver.__name__ for receiver in signal._live_receivers(None)[0])

print(json.dumps({"started": names(request_started), "finished": names(request_finished)}))
"""


@pytest.fixture(scope="module")
def receivers() -> dict[str, list[str]]:
    said = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found: dict[str, list[str]] = json.loads(said.splitlines()[-1])
    return found


# web/short_path.py calls these receivers itself. If you add one, call it there too.
def test_each_request_starts_with_a_look_at_its_own_threads_connections(receivers):
    assert receivers["started"] == ["drop_broken_connections"]


def test_a_request_that_ends_only_gives_scarce_connections_back(receivers):
    assert receivers["finished"] == ["give_back_connections", "reset_urlconf"]
