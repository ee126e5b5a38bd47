"""A drain that is killed with -9, or stopped, in the middle of its batch; another goes on.

A shard is killed and comes back. The running compensator delivers without a restart.
"""

import os
import subprocess
import sys
from signal import SIGCONT, SIGKILL, SIGSTOP

import pytest
from django.conf import settings
from django.db import connections

from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from relations.actions.follow import follow, unfollow
from tests.loaded_process import LoadedProcess
from tests.server_faults import kill
from tests.truth import assert_drained_truth, live_pairs, rows_of
from tests.waiting import PATIENCE_S, until
from tests.world import drain_all, make_accounts

# Drains a lane; at the failpoint it does to itself what the test says.
SCRIPT = """
import os, signal, sys
import django
django.setup()
from infra.changes.compensate import drain
from infra.changes.failpoints import arm
alias, lane, place, name = sys.argv[1:]
arm(place, lambda: os.kill(os.getpid(), getattr(signal, name)))
report = drain(alias, int(lane))
print(report.delivered, report.more)
"""
# The threads of the resident drainer for this database; one of them does it.
RESIDENT = """
import os, signal, sys, time
import django
django.setup()
from infra.changes.drainer import Drainer
from infra.changes.failpoints import arm
alias, _, place, name = sys.argv[1:]
arm(place, lambda: os.kill(os.getpid(), getattr(signal, name)))
Drainer().cover([alias])
time.sleep(3600)
"""
PENDING = "SELECT id FROM changes_change"
FILED = "SELECT id FROM changes_delivered"
EXPIRE = "UPDATE changes_drainlease SET expires_at = clock_timestamp() - interval '1 s'"


def start_drain(alias, lane, place, signal, script=SCRIPT):
    return LoadedProcess("-c", script, alias, str(lane), place, signal)


def make_changes():
    """Everybody follows everybody, and half of it ends. Returns a lane that has work."""
    people = make_accounts(6)
    for follower in people:
        for followee in people:
            if follower != followee:
                follow(follower, followee)
                if (follower + followee) % 2:
                    unfollow(follower, followee)
    return people, shard_of(people[0]), lane_of(people[0])


def assert_effects_appear_once(change_ids):
    """The other side, its counts and the change table are what the forward edges say."""
    assert_drained_truth()
    assert rows_of(PENDING) == []
    assert sorted(rows_of(FILED)) == sorted(change_ids)


@pytest.mark.parametrize(
    ("script", "place"),
    [
        (SCRIPT, "deliver.after_consumer"),
        (SCRIPT, "drain.before_commit"),
        (RESIDENT, "drain.before_delivery"),
        (RESIDENT, "deliver.after_consumer"),
        (RESIDENT, "drain.before_commit"),
        (RESIDENT, "drain.after_filing"),
    ],
)
def test_kill_9_in_the_middle_of_a_drain(world, script, place):
    _, alias, lane = make_changes()
    change_ids = rows_of(PENDING)
    with start_drain(alias, lane, place, "SIGKILL", script) as drainer:
        assert drainer.wait() == -SIGKILL
    drain_all()
    assert_effects_appear_once(change_ids)


def test_stopped_drain_that_wakes_up_later_does_no_harm(world):
    """Replaced while it hung with its batch delivered and not filed; it may not file it now."""
    people, alias, lane = make_changes()
    change_ids = rows_of(PENDING)
    drainer = start_drain(alias, lane, "drain.before_filing", "SIGSTOP")
    drainer.wait_until_stopped()
    drain_all()
    mine = "SELECT count(*) FROM changes_change WHERE lane = %s"
    assert fetch_one(alias, mine, (lane,))[0] > 0, "the lane is taken until its lease is over"
    execute(alias, EXPIRE)
    drain_all()
    assert_effects_appear_once(change_ids)
    unfollow(*next(pair for pair in live_pairs() if pair[0] == people[0]))
    with drainer:
        drainer.send_signal(SIGCONT)
        assert drainer.stdout.read().splitlines()[-1] == "0 True"
    drain_all()
    assert_drained_truth()


BACKWARD = "SELECT follower_id, followee_id FROM relations_backwardedge WHERE attribute = 1"
WAITING = "SELECT state, attempts, error FROM changes_change"


@pytest.fixture
def compensator(services):
    """The schedule as `make run` starts it."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "compensate_changes", "--every", "0.2"],
        env=os.environ | services.environment(),
        cwd=settings.BASE_DIR,
    )
    yield process
    process.send_signal(SIGCONT)
    process.terminate()
    assert process.wait(PATIENCE_S) == 2  # stopped, as a person asked


def is_mirrored(pairs):
    found = {pair for alias in ("shard0", "shard2") for pair in fetch_all(alias, BACKWARD)}
    return found >= set(pairs)


def test_rows_for_the_dead_shard_wait_and_delay_no_others(services, compensator):
    """Rows of the same owners, so of the same lanes and batches, go to living shards."""
    people = make_accounts(12)
    here, dead = ([p for p in people if shard_of(p) == a] for a in ("shard0", "shard1"))
    alive = [p for p in people if shard_of(p) in ("shard0", "shard2")]
    follow(here[0], dead[0])
    until(lambda: fetch_all("shard1", BACKWARD))
    until(lambda: not fetch_all("shard0", WAITING))  # and filed as delivered

    compensator.send_signal(SIGSTOP)
    waiting = [(one, other) for one in here for other in dead if (one, other) != (here[0], dead[0])]
    free = [(one, other) for one in here for other in alive if one != other]
    for pair in [*waiting, *free]:
        follow(*pair)
    kill(services.postgres["shard1"])
    connections["shard1"].close()
    compensator.send_signal(SIGCONT)
    until(lambda: is_mirrored(free))
    until(lambda: len(fetch_all("shard0", WAITING)) == len(waiting))
    until(lambda: all(error for _, _, error in fetch_all("shard0", WAITING)))
    assert {(state, attempts) for state, attempts, _ in fetch_all("shard0", WAITING)} == {(0, 0)}

    services.postgres["shard1"].start()
    until(lambda: not fetch_all("shard0", WAITING))
    assert set(fetch_all("shard1", BACKWARD)) == {(here[0], dead[0]), *waiting}
