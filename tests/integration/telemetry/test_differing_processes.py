"""A process that lacks what all others have in common is named: in its log, and in the status."""

import os
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from django.conf import settings

from infra.caching.client import redis
from infra.processes.differences import CLOCK, Process, find_differences
from infra.processes.fingerprint import FACTS, OF_RELEASES, read_fingerprint
from infra.processes.reporter import REPORTS, list_processes
from lab.runner.child import CHECKOUT
from operations.status.report import list_down, read_status
from operations.status.status_lines import format_status
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow

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
    "version": "from infra.processes import fingerprint; fingerprint.VERSION = '0.0.9'",
    "code": "from infra.processes import fingerprint; fingerprint._files = lambda base: ['other']",
    "schema": "from infra.processes import fingerprint; fingerprint.schema_of_code = lambda: []",
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
