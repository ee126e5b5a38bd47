"""A real drainer process is woken and drains: no test calls the drain here."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest
from django.conf import settings

from infra.caching.client import redis
from infra.changes.management.commands.run_drainer import NICENESS
from infra.changes.running_drainers import DRAINERS, list_drainers
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_one
from operations.status.report import read_status
from relations.actions.follow import follow
from tests.other_process import environment_of_this_test
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts

pytestmark = pytest.mark.slow

COUNT = "SELECT count(*) FROM relations_backwardedge WHERE followee_id = %s"


@pytest.fixture
def drainer(world):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run_drainer"],
        env=environment_of_this_test(),
        cwd=settings.BASE_DIR,
    )
    yield process
    process.terminate()
    assert process.wait(PATIENCE_S) == 0


def test_follow_reaches_the_other_shard_by_the_wake_up_alone(drainer):
    follower, followee = make_accounts(2)
    follow(follower, followee)
    until(lambda: not any(is_behind(alias) for alias in all_aliases()))
    assert sum(fetch_one(alias, COUNT, (followee,))[0] for alias in all_aliases()[1:]) == 1


def test_a_change_is_delivered_before_the_next_look(drainer):
    """A drainer that only looked would need QUIET_S; the best of many says that it is woken."""
    followee, *followers = make_accounts(20)
    took = []
    for follower in followers:
        began = time.monotonic()
        follow(follower, followee)
        until(lambda: not any(is_behind(alias) for alias in all_aliases()))
        took.append(time.monotonic() - began)
    assert min(took) < 0.1


def test_it_lets_web_servers_go_first(drainer):
    until(list_drainers)
    assert os.getpriority(os.PRIO_PROCESS, drainer.pid) == min(
        19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
    )


def test_status_names_it_until_it_ends(drainer):
    [name] = until(list_drainers)
    assert name.endswith(f":{drainer.pid}")
    workers = read_status(datetime.now(UTC))["workers"]
    assert (workers["is_up"], workers["names"]) == (True, [name])
    drainer.terminate()
    drainer.wait(PATIENCE_S)
    assert list_drainers() == []


def is_behind(alias):
    return fetch_one(alias, "SELECT 1 FROM changes_change LIMIT 1") is not None


def test_a_name_that_is_no_text_is_listed(world: None) -> None:
    redis().call("ZADD", DRAINERS, time.time(), b"\x80\x04planted")
    assert list_drainers() == ["\ufffd\x04planted"]
