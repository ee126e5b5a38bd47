"""A job that is killed with -9, or hangs, in the middle of its walk; the next run goes on.

Imports that are killed with -9, and feeds that stay open.
"""

import json
import signal
import subprocess
import sys

import pytest
from django.conf import settings

from counters.jobs.drifting_counts import audit_counters
from infra.jobs.errors import AlreadyRunning
from infra.jobs.models import JobCheckpoint, JobRun
from infra.jobs.runs import recorded_run
from infra.jobs.types import Work
from infra.sharding.shards import all_aliases, shard_aliases
from infra.sharding.sql import fetch_all
from tests.faults.dying_job import kill_at, start
from tests.faults.renaming import Command
from tests.integration.importing.imports import account, follow, ids_of, post, post_id, run_import
from tests.integration.jobs.outcomes import Outcome
from tests.integration.timelines.homes import first_page
from tests.other_process import environment_of_this_test
from tests.truth import backward_edges, forward_edges
from tests.waiting import PATIENCE_S, until
from tests.world import drain_all, make_accounts

PEOPLE = 24
JOB = ("tests.faults.renaming.Command", "--batch-size", "3")
EVERYTHING = "SELECT id, username, display_name FROM accounts_account"


def wrong_names():
    rows = [row for alias in settings.SHARD_ALIASES for row in fetch_all(alias, EVERYTHING)]
    assert len(rows) == PEOPLE
    return [row for row in rows if row[2] != row[1].upper()]


def last_run():
    return JobRun.objects.latest("id")


@pytest.mark.parametrize("place", ["renaming.rows_read", "renaming.batch_committed", "checkpoint"])
def test_killed_anywhere_and_resumed_it_ends_the_same(world, place):
    make_accounts(PEOPLE)
    kill_at(place, 4, *JOB)
    assert wrong_names()
    kill_at(place, 2, *JOB, "--resume")
    outcome = Outcome(Command(), "--resume")
    assert outcome.code == 0
    assert wrong_names() == []
    states = [*JobRun.objects.order_by("id").values_list("state", flat=True)]
    assert states == ["died", "died", "done"]
    assert last_run().done <= PEOPLE / 2, "it began again"
    assert not JobCheckpoint.objects.exists()


def test_second_run_changes_nothing_and_a_dry_run_says_so_and_writes_nothing(world):
    make_accounts(PEOPLE)
    dry = Outcome(Command(), "--dry-run", "--batch-size", "5")
    assert len(wrong_names()) == PEOPLE
    assert dry.out.endswith(f"{PEOPLE} rows looked at, {PEOPLE} would change, 0 failed\n")
    real = Outcome(Command(), "--batch-size", "5")
    assert real.out.splitlines()[:-1] == dry.out.splitlines()[:-1], "it said what would change"
    assert wrong_names() == []
    assert Outcome(Command()).out == f"{PEOPLE} rows done, 0 changed, 0 failed\n"


def test_copy_that_hangs_keeps_others_out_until_it_is_killed(world):
    make_accounts(PEOPLE)
    with start("SIGSTOP", "renaming.batch_committed", 2, *JOB) as hung:
        hung.wait_until_stopped()
        with pytest.raises(AlreadyRunning, match=f"process {hung.pid} on .*, since 20"):
            Outcome(Command(), "--shard", "shard3")
        assert JobRun.objects.get().state == JobRun.State.RUNNING
        hung.kill()
    assert Outcome(Command(), "--shard", "shard3").code == 0
    assert JobRun.objects.earliest("id").state == JobRun.State.DIED


def test_refused_command_ends_with_2(world):
    """Through manage.py, as systemd or cron would see it."""
    with recorded_run("changes drain", all_aliases(), "", dry_run=False) as run:
        command = [sys.executable, "manage.py", "changes", "drain", "--shard", "shard1"]
        ended = subprocess.run(
            command,
            env=environment_of_this_test(),
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 2
    assert f"AlreadyRunning: changes drain (shard1) runs already: run {run.id}," in ended.stderr
    assert ended.stdout == ""


IMPORTS = 12
NAMES = [f"p{number}" for number in range(IMPORTS)]


@pytest.fixture
def imported(world, tmp_path):
    run_import("accounts", tmp_path, map(account, NAMES))
    return ids_of(*NAMES)


def start_import(kind, file, *words, **pipes):
    return subprocess.Popen(
        [sys.executable, "manage.py", "import", kind, str(file), *words],
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
    process = start_import("follows", file, *slow)
    try:
        until(lambda: len(forward_edges()) >= 20)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert len(forward_edges()) < len(lines)
    again = start_import("follows", file, "--resume", "--batch-size", "5")
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
    feed = start_import("follows", "-", stdin=subprocess.PIPE)
    try:
        send(feed, follow("p0", "p1"), follow("p0", "p2"))
        until(lambda: len(backward_edges()) == 2)
        send(feed, follow("p0", "p2", "2021-01-01T00:00:00Z", ended=True), follow("p3", "p0"))
        until(lambda: sum(edge.is_follow for edge in forward_edges().values()) == 2)
    finally:
        out, _ = feed.communicate()
    assert feed.returncode == 0
    assert out.decode().splitlines()[-1] == "4 lines done, 4 changed, 0 failed"
    posts = start_import("posts", "-", stdin=subprocess.PIPE)
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
    feed = start_import("follows", "-", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    send(feed, follow("p0", "p1"))
    until(lambda: len(forward_edges()) == 1)
    feed.terminate()
    assert feed.wait(PATIENCE_S) == 2
    feed.communicate()


def send(process, *records):
    for record in records:
        process.stdin.write(json.dumps(record).encode() + b"\n")
    process.stdin.flush()
