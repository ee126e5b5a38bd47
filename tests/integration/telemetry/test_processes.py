"""/metrics has what every process of the machine counted, whichever answers and whichever died."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager, suppress

import pytest

from infra.telemetry.publishing import PUBLISHER, metrics_folder
from infra.telemetry.snapshot_folder import SnapshotFolder
from infra.telemetry.snapshots import merge_snapshots
from lab.runner.child import CHECKOUT
from lab.runner.port import free_port
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow

COUNTS = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django; django.setup()
from infra.caching.metrics import count_waits
from infra.telemetry import publishing
publishing.EVERY_S = 0.05
publishing.PUBLISHER.publish(publishing.metrics_folder(), "worker")
count_waits("tests.telemetry", 7)
print("counted", flush=True)
sys.stdin.readline()
count_waits("tests.telemetry", 1)
"""
WAITS = ("tideline_cache_waits_total", (("family", "tests.telemetry"),))


@pytest.fixture
def runtime(tmp_path, monkeypatch, settings):
    monkeypatch.setenv("RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "config.settings")
    settings.RUNTIME_DIR = str(tmp_path)
    return tmp_path


@pytest.fixture
def worker(runtime):
    with counting_process() as process:
        yield process


@contextmanager
def counting_process(**environment):
    process = subprocess.Popen(
        [sys.executable, "-c", COUNTS],
        cwd=CHECKOUT,
        env=os.environ | environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == "counted\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def seen(metrics):
    samples = [sample for metric in metrics for sample in metric.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def here():
    return seen(PUBLISHER.collect(metrics_folder()))


def test_other_process_is_on_the_page_of_this_one(worker):
    until(lambda: here().get(WAITS) == 7)
    assert here()["tideline_processes", (("role", "worker"),)] == 1
    assert here()["process_resident_memory_bytes", (("role", "worker"),)] > 1_000_000


def test_counts_of_a_killed_process_stay(worker):
    until(lambda: here().get(WAITS) == 7)
    worker.kill()
    worker.wait()
    assert here()[WAITS] == 7
    assert ("tideline_processes", (("role", "worker"),)) not in here()


def test_process_that_ends_by_itself_leaves_its_last_counts(worker):
    worker.communicate("\n")
    assert here()[WAITS] == 8


@pytest.fixture
def server(runtime, monkeypatch):
    """The web server with two workers."""
    port = free_port()
    argv = [sys.executable, "-m", "web", "--port", str(port), "--workers", "2"]
    process = subprocess.Popen(argv, cwd=CHECKOUT, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: processes(url) == "2")
        yield process, url
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def processes(url):
    try:
        found = re.search(r'tideline_processes\{role="web"\} (\d)', get(f"{url}/metrics"))
    except OSError:
        return ""
    return found[1] if found else ""


def get(url):
    # A connection each: so both workers answer some.
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def test_workers_of_one_server_are_counted_together_and_to_the_last(server, runtime):
    process, url = server
    for _ in range(30):
        get(f"{url}/health/live")
    lives = ("tideline_responses_total", (("route", "health/live"), ("status", "200")))
    os.kill(process.pid, signal.SIGTERM)
    process.wait(PATIENCE_S)
    # Nobody has looked between: what counts is what they wrote when they ended.
    assert seen(merge_snapshots(*SnapshotFolder(metrics_folder()).read()))[lives] == 30
