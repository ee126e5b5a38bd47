"""Imports a made-up graph with a worker beside it, as an operator does, and audits everything.

The size of a real one: IMPORT_FOLLOWS=1000000 and `pytest -n 0 -s` with this file.
"""

import json
import os
import random
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from django.conf import settings

from counters.jobs.drifting_counts import audit_counters
from infra.jobs.types import Work
from infra.sharding.shards import shard_aliases
from relations.verbs import AuditEdges
from tests.integration.jobs.outcomes import Outcome
from tests.other_process import environment_of_this_test
from tests.truth import backward_edges, forward_edges
from tests.waiting import PATIENCE_S

FOLLOWS = int(os.environ.get("IMPORT_FOLLOWS", "10000"))
ACCOUNTS = max(200, FOLLOWS // 50)


def write_files(folder):
    """Popular accounts have more followers. A follower's lines are together, as in most exports."""
    chance = random.Random(1)
    with (folder / "accounts.jsonl").open("w") as file:
        for number in range(ACCOUNTS):
            line = {"id": f"u{number}", "username": f"user{number}"}
            file.write(json.dumps({**line, "created_at": "2015-01-01T00:00:00Z"}) + "\n")
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < FOLLOWS:
        follower, followee = chance.randrange(ACCOUNTS), int(ACCOUNTS * chance.random() ** 2)
        if follower != followee:
            pairs[follower, followee] = None
    with (folder / "follows.jsonl").open("w") as file:
        for follower, followee in sorted(pairs):
            since = f"2016-{1 + follower % 12:02}-01T00:00:00Z"
            line = {"follower": f"u{follower}", "followee": f"u{followee}", "since": since}
            file.write(json.dumps(line) + "\n")


@contextmanager
def manage(*words):
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        env=environment_of_this_test(),
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=PATIENCE_S)


def run_command(*words):
    """The wall and the processor time of the command."""
    began, before = time.monotonic(), os.times()
    with manage(*words) as process:
        out, _ = process.communicate()
        sys.stdout.write(out.decode()[-500:])
    after = os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    wall = time.monotonic() - began
    sys.stdout.write(f"{words[0]}: {wall:.1f} s, {used:.1f} s of CPU\n")
    assert process.returncode == 0
    return wall


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_follows_are_right_afterwards(world, tmp_path):
    write_files(tmp_path)
    with manage("run_drainer"):
        run_command("import", "accounts", str(tmp_path / "accounts.jsonl"))
        wall = run_command("import", "follows", str(tmp_path / "follows.jsonl"))
        sys.stdout.write(f"{FOLLOWS / wall:,.0f} follows/s\n")
    forward = forward_edges()
    assert len(forward) == FOLLOWS
    assert backward_edges() == forward
    assert Outcome(AuditEdges()).code == 0
    assert [batch for batch in audit_counters(Work(shard_aliases())) if batch.failed] == []
