"""/metrics has what every process of the machine counted, whichever answers and whichever died.

A process that lacks what all others have in common is named: in its log, and in the status.
"""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import pytest
from django.conf import settings

from infra.caching.client import redis
from infra.processes.reporter import (
    CLOCK,
    FACTS,
    OF_RELEASES,
    REPORTS,
    Process,
    find_differences,
    list_processes,
    read_fingerprint,
)
from infra.telemetry.publishing import PUBLISHER, metrics_folder
from infra.telemetry.snapshot_folder import SnapshotFolder
from infra.telemetry.snapshots import merge_snapshots
from lab.runner.child import CHECKOUT
from lab.runner.port import free_port
from operations.status.report import list_down, read_status
from operations.status.status_lines import format_status
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


REPORTING = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django; django.setup()
from infra.processes import reporter
reporter.EVERY_S = 0.05
{change}
reporter.REPORTER.report(sys.argv[1])
sys.stdin.readline()
"""
OTHERS = {
    "secret_key": {"SECRET_KEY": "another " * 8 + "Q1"},
    "public_url": {"PUBLIC_URL": "https://other.example", "MEDIA_URL": settings.MEDIA_URL},
    "media_url": {"MEDIA_URL": "https://other.example/media"},
}
CHANGES = {
    "version": "reporter.VERSION = '0.0.9'",
    "code": "reporter._files = lambda base: ['other']",
    "schema": "reporter.schema_of_code = lambda: []",
    CLOCK: "import time; now = time.time; reporter.time.time = lambda: now() + 3",
}


@contextmanager
def reporting(role, change="", **environment):
    process = subprocess.Popen(
        [sys.executable, "-c", REPORTING.format(change=change), role],
        cwd=CHECKOUT,
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def two(world):
    """Two processes that agree."""
    redis().call("DEL", REPORTS)
    with reporting("web"), reporting("worker"):
        until(lambda: len(list_processes()) == 2)
        yield


@pytest.mark.parametrize("fact", [*FACTS, CLOCK])
def test_it_names_itself_and_the_status_names_it(two, fact):
    assert find_differences(list_processes()) == []
    with reporting("other", CHANGES.get(fact, ""), **OTHERS.get(fact, {})) as other:
        (difference,) = until(lambda: find_differences(list_processes()))
        assert difference.fact == fact
        assert [name.split()[0] for name in difference.names] == ["other"]
        line = other.stderr.readline()
        assert "process.differs" in line and fact in line, line
        status = read_status(datetime.now(UTC), patience_s=PATIENCE_S)
        shown = "\n".join(format_status(status))
        assert f"DIFFERS: {difference}" in shown
        assert (f"processes: {fact}" in list_down(status)) == (fact not in OF_RELEASES)


def test_no_secret_is_told():
    assert settings.SECRET_KEY not in read_fingerprint().values()


def test_most_others_are_right_and_one_that_has_ended_is_forgotten(two):
    facts = read_fingerprint()
    processes = {"web a": Process(facts), "web b": Process(facts | {"code": "other"})}
    assert [each.names for each in find_differences(processes)] == [["web b"]]
    redis().call("HSET", REPORTS, "web gone:1", b'1:{"facts":{},"clock_s":null}')
    redis().call("HSET", REPORTS, "web odd:1", b"nonsense")
    assert len(list_processes()) == 2
