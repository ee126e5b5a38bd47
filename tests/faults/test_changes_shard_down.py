"""A shard is killed and comes back. The running compensator delivers without a restart."""

import os
import subprocess
import sys
from signal import SIGCONT, SIGSTOP

import pytest
from django.conf import settings
from django.db import connections

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.actions.follow import follow
from tests.server_faults import kill
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts

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
