"""A real Celery worker gets the wake-up and drains: no test calls the drain here."""

import subprocess
import sys

import pytest
from django.conf import settings

from infra.sharding.placement import all_aliases
from infra.sharding.sql import fetch_one
from relations.actions.follow import follow
from tests.other_process import environment_of_this_test
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts

WORKER = ["-m", "celery", "-A", "config", "worker", "--pool", "threads", "--concurrency", "2"]
ALONE = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]


@pytest.fixture
def worker(world):
    process = subprocess.Popen(
        [sys.executable, *WORKER, *ALONE], env=environment_of_this_test(), cwd=settings.BASE_DIR
    )
    yield process
    process.terminate()
    assert process.wait(PATIENCE_S) == 0


def test_follow_reaches_the_other_shard_by_the_wake_up_alone(worker):
    follower, followee = make_accounts(2)
    follow(follower, followee)
    until(lambda: not any(is_behind(alias) for alias in all_aliases()))
    count = "SELECT count(*) FROM relations_backwardedge WHERE followee_id = %s"
    assert sum(fetch_one(alias, count, (followee,))[0] for alias in all_aliases()[1:]) == 1


def is_behind(alias):
    return fetch_one(alias, "SELECT 1 FROM changes_change LIMIT 1") is not None
