"""A database hangs under a running worker or compensator. The other changes are delivered."""

import subprocess
import sys
from signal import SIGCONT, SIGSTOP

import pytest
from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.actions.follow import follow
from tests.faults.hung_world import environment_of
from tests.server_faults import pause, resume
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts

WAITING = "SELECT count(*) FROM changes_change WHERE lane < 64"
BACKWARD = "SELECT follower_id, followee_id FROM relations_backwardedge WHERE attribute = 1"
# The exit codes of a process that was asked to stop.
COMMANDS = {("run_drainer",): 0, ("compensate_changes", "--every", "0.2"): 2}
# It takes three seconds, once, to find that a database hangs. A crowded machine takes longer.
NOTICED_S = 60


@pytest.fixture(params=COMMANDS, ids=lambda command: command[0])
def deliverer(services, request):
    process = subprocess.Popen(
        [sys.executable, "manage.py", *request.param],
        env=environment_of(services.environment()),
        cwd=settings.BASE_DIR,
    )
    yield process
    process.send_signal(SIGCONT)
    process.terminate()
    assert process.wait(PATIENCE_S) == COMMANDS[request.param]


@pytest.fixture
def by_shard(deliverer):
    """Accounts by shard. The process that delivers has connections to all databases."""
    some = make_accounts(24)
    found = {alias: [one for one in some if shard_of(one) == alias] for alias in SHARDS}
    for alias in SHARDS:
        for other in SHARDS:
            follow(found[alias][2], found[other][3])
    until(lambda: not any(map(waiting, SHARDS)))
    return found


SHARDS = ["shard0", "shard1", "shard2", "shard3"]


def waiting(alias):
    return fetch_all(alias, WAITING)[0][0]


def test_changes_that_need_the_hung_shard_wait_and_others_do_not(services, deliverer, by_shard):
    """The changes of one owner, so of one lane and batch, need the hung shard or do not."""
    owner, there = by_shard["shard0"][0], by_shard["shard1"][1]
    wanted = {(by_shard["shard0"][1], by_shard[alias][1]) for alias in ("shard2", "shard3")}
    deliverer.send_signal(SIGSTOP)
    follow(owner, there)
    for pair in wanted:
        follow(*pair)
    pause(services.postgres["shard1"])
    try:
        deliverer.send_signal(SIGCONT)
        until(lambda: waiting("shard0") == 1, NOTICED_S)
        assert wanted <= {p for a in ("shard2", "shard3") for p in fetch_all(a, BACKWARD)}
        [(owner_id,)] = fetch_all("shard0", "SELECT owner_id FROM changes_change WHERE lane < 64")
        assert owner_id == owner
        follow(by_shard["shard2"][0], by_shard["shard3"][1])
        until(lambda: not waiting("shard2"), NOTICED_S)
    finally:
        resume(services.postgres["shard1"])
    until(lambda: not waiting("shard0"))


def test_nothing_waits_for_the_default_database(services, deliverer, by_shard):
    pause(services.postgres["default"])
    try:
        for alias in SHARDS:
            follow(by_shard[alias][0], by_shard["shard1"][1])
        until(lambda: not any(map(waiting, SHARDS)), NOTICED_S)
    finally:
        resume(services.postgres["default"])
