"""Imports that are killed with -9, and feeds that stay open."""

import json
import signal
import subprocess
import sys

import pytest
from django.conf import settings

from counters.jobs.audit_counters import audit_counters
from infra.jobs.types import Work
from infra.sharding.shards import shard_aliases
from tests.integration.importing.imports import account, follow, ids_of, post, post_id, run_import
from tests.integration.timelines.homes import first_page
from tests.other_process import environment_of_this_test
from tests.truth import backward_edges, forward_edges
from tests.waiting import until
from tests.world import drain_all

PEOPLE = 12
NAMES = [f"p{number}" for number in range(PEOPLE)]


@pytest.fixture
def imported(world, tmp_path):
    run_import("accounts", tmp_path, map(account, NAMES))
    return ids_of(*NAMES)


def start(kind, file, *words, **pipes):
    return subprocess.Popen(
        [sys.executable, "manage.py", f"import_{kind}", str(file), *words],
        env=environment_of_this_test(),
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
        **pipes,
    )


def test_killed_in_the_middle_and_resumed_it_ends_as_a_whole_run(imported, tmp_path):
    lines = [follow(a, b) for a in NAMES for b in NAMES if a != b]
    file = tmp_path / "follows.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    slow = ("--batch-size", "5", "--rate", "50")
    process = start("follows", file, *slow)
    try:
        until(lambda: len(forward_edges()) >= 20)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert len(forward_edges()) < len(lines)
    again = start("follows", file, "--resume", "--batch-size", "5")
    out, _ = again.communicate()
    assert again.returncode == 0
    changed = int(out.decode().splitlines()[-1].split(", ")[1].split()[0])
    assert 0 < changed < len(lines) - 15, "it began again"
    assert len(forward_edges()) == len(lines)
    assert backward_edges() == forward_edges()
    assert [one for one in audit_counters(Work(shard_aliases())) if one.failed] == []


def test_a_feed_by_standard_input_is_written_while_it_is_open(imported, tmp_path):
    """Dual run: the old system feeds the new one, and stops at the switch."""
    ann, *_ = imported
    feed = start("follows", "-", stdin=subprocess.PIPE)
    try:
        send(feed, follow("p0", "p1"), follow("p0", "p2"))
        until(lambda: len(backward_edges()) == 2)
        send(feed, follow("p0", "p2", "2021-01-01T00:00:00Z", ended=True), follow("p3", "p0"))
        until(lambda: sum(edge.is_follow for edge in forward_edges().values()) == 2)
    finally:
        out, _ = feed.communicate()
    assert feed.returncode == 0
    assert out.decode().splitlines()[-1] == "4 lines done, 4 changed, 0 failed"
    posts = start("posts", "-", stdin=subprocess.PIPE)
    try:
        assert first_page(ann) == []
        send(posts, post(1, "p1"), post(2, "p2"))
        until(lambda: len(first_page(ann)) == 1)
        assert first_page(ann) == [post_id(1).public]
        send(posts, {"id": "p-1", "author": "u-p1", "deleted": True})
        until(lambda: drain_all() >= 0 and first_page(ann) == [])
    finally:
        posts.communicate()
    assert posts.returncode == 0


def test_a_stop_is_heard_while_the_feed_is_silent(imported):
    feed = start("follows", "-", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    send(feed, follow("p0", "p1"))
    until(lambda: len(forward_edges()) == 1)
    feed.terminate()
    assert feed.wait(20) == 2
    feed.communicate()


def send(process, *records):
    for record in records:
        process.stdin.write(json.dumps(record).encode() + b"\n")
    process.stdin.flush()
