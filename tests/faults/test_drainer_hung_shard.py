"""A shard hangs under a running drainer. The changes of the other databases are delivered."""

import os
import subprocess
import sys
from signal import SIGCONT, SIGSTOP

import pytest
from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.actions.follow import follow
from tests.server_faults import pause, resume
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts

WAITING = "SELECT count(*) FROM changes_change WHERE lane < 64"
BACKWARD = "SELECT follower_id, followee_id FROM relations_backwardedge WHERE attribute = 1"


@pytest.fixture
def drainer(services):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run_drainer"],
        env=os.environ | services.environment(),
        cwd=settings.BASE_DIR,
    )
    yield process
    process.send_signal(SIGCONT)
    process.terminate()
    assert process.wait(PATIENCE_S) == 0


def test_changes_that_need_the_hung_shard_wait_and_others_do_not(services, drainer):
    people = make_accounts(24)
    by_shard = {
        alias: [one for one in people if shard_of(one) == alias] for alias in ("shard0", "shard1")
    }
    here, there = by_shard["shard0"], by_shard["shard1"]
    alive = [one for one in people if shard_of(one) in ("shard2", "shard3")]
    follow(here[2], there[1])  # the drainer opens its connections to all of them
    until(lambda: fetch_all("shard0", WAITING) == [(0,)])
    drainer.send_signal(SIGSTOP)
    follow(here[0], there[0])
    wanted = {(here[1], other) for other in alive}
    for pair in wanted:
        follow(*pair)
    pause(services.postgres["shard1"])
    try:
        drainer.send_signal(SIGCONT)
        until(lambda: fetch_all("shard0", WAITING) == [(1,)])
        assert wanted <= {p for a in ("shard2", "shard3") for p in fetch_all(a, BACKWARD)}
        [(owner_id,)] = fetch_all("shard0", "SELECT owner_id FROM changes_change WHERE lane < 64")
        assert owner_id == here[0]
    finally:
        resume(services.postgres["shard1"])
    until(lambda: fetch_all("shard0", WAITING) == [(0,)])
