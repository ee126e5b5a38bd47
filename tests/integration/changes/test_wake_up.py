"""A wake-up: one Celery message for many changes, in the real broker's queue."""

import json
import time
from base64 import b64decode
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError

from infra.caching.client import redis
from infra.changes import wake_up
from infra.changes.tasks import drain_lane
from infra.changes.wake_up import acknowledge, flag_key, wake
from infra.sharding.sql import execute
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    FOLDED_LANE,
    LANE,
    OTHER_LANE,
    OTHER_OWNER,
    BulkNoted,
    FoldedNoted,
    Noted,
    delivered,
    emit,
    note,
    pending,
)
from tests.waiting import PATIENCE_S

QUEUE = b"celery:celery"


def messages():
    """(database, lane) of the messages waiting, oldest first."""
    return [tuple(arguments[:2]) for arguments in all_arguments()]


def all_arguments():
    bodies = [json.loads(m)["body"] for m in reversed(redis().call("LRANGE", QUEUE, 0, -1))]
    return [tuple(json.loads(b64decode(body))[0]) for body in bodies]


def test_many_changes_ring_once(journal):
    for _ in range(5):
        note(4)
    assert messages() == [(ALIAS, LANE)]


def test_lanes_and_databases_ring_for_themselves(journal):
    note(2)
    note(2, owner_id=OTHER_OWNER)
    note(2, alias="shard1")
    emit(BulkNoted())
    assert sorted(messages()) == [
        ("shard0", OTHER_LANE),
        ("shard0", LANE),
        ("shard0", BULK_LANE),
        ("shard1", LANE),
    ]


def test_change_that_comes_after_the_answer_rings_again(journal):
    note()
    acknowledge(ALIAS, LANE)
    note()
    assert messages() == [(ALIAS, LANE)] * 2


def test_lost_message_is_rung_again_after_a_while(journal):
    note()
    left_ms = redis().call("PTTL", flag_key(ALIAS, LANE))
    assert 0 < left_ms <= wake_up.FLAG_TTL_MS


def test_message_names_the_task_that_drains(journal):
    versions = note(3)
    [raw] = redis().call("LRANGE", QUEUE, 0, -1)
    assert json.loads(raw)["headers"]["task"] == drain_lane.name
    drain_lane(*messages()[0])
    assert delivered() == versions


def test_task_rings_again_for_what_is_left(journal, settings, monkeypatch):
    settings.CHANGE_BATCH_SIZE = 1
    monkeypatch.setattr("infra.changes.drain.MAX_BATCHES", 2)
    versions = note(50)
    redis().call("DEL", QUEUE)
    drain_lane(ALIAS, LANE)
    assert pending() != []
    assert messages() == [(ALIAS, LANE)]
    while pending():
        redis().call("DEL", QUEUE)
        drain_lane(ALIAS, LANE)
    assert delivered() == versions


def test_a_folded_lane_that_delivered_is_drained_in_rounds(journal):
    first = emit(FoldedNoted())
    drain_lane(ALIAS, FOLDED_LANE)
    redis().call("DEL", QUEUE)
    later = emit(*[FoldedNoted()] * 5)
    assert messages() == [], "no wake-up in the window"
    drain_lane(ALIAS, FOLDED_LANE)
    assert (delivered(), pending()) == (first, later), "an earlier wake-up starts no drain"
    drain_lane(ALIAS, FOLDED_LANE, True)
    assert delivered() == first + later
    redis().call("DEL", QUEUE)
    drain_lane(ALIAS, FOLDED_LANE, True)
    flag = flag_key(ALIAS, FOLDED_LANE)
    assert (messages(), redis().call("EXISTS", flag)) == ([], 0), "a quiet round"
    emit(FoldedNoted())
    assert all_arguments() == [(ALIAS, FOLDED_LANE, False)], "and it rings again"


def test_throttled_lane_schedules_its_next_drain(journal, settings):
    settings.CHANGE_THROTTLE_MS = 50_000
    emit(FoldedNoted())
    redis().call("DEL", QUEUE)
    began = datetime.now(UTC)
    drain_lane(ALIAS, FOLDED_LANE)
    assert all_arguments() == [(ALIAS, FOLDED_LANE, True)]
    [raw] = redis().call("LRANGE", QUEUE, 0, -1)
    due = datetime.fromisoformat(json.loads(raw)["headers"]["eta"])
    assert timedelta(seconds=49) < due - began < timedelta(seconds=80)


@pytest.mark.parametrize(("payload", "lane"), [(BulkNoted(), BULK_LANE), (Noted(), LANE)])
def test_only_folded_lanes_wait(journal, payload, lane):
    for _ in range(2):
        versions = emit(payload)
        drain_lane(ALIAS, lane)
        assert delivered()[-1:] == versions
        redis().call("DEL", QUEUE)
    emit(payload)
    assert messages() == [(ALIAS, lane)], "the next change wakes a drainer at once"


def test_task_gets_over_a_connection_that_broke(journal):
    """Its thread keeps its connections from task to task."""
    versions = note()
    with pytest.raises(OperationalError):
        execute(ALIAS, "SELECT pg_terminate_backend(pg_backend_pid())")
    drain_lane(ALIAS, LANE)
    assert delivered() == versions


def test_without_redis_it_neither_raises_nor_hangs(journal, no_redis):
    began = time.monotonic()
    versions = note(20)
    wake(ALIAS, LANE)
    drain_lane(ALIAS, LANE)
    assert time.monotonic() - began < PATIENCE_S / 5, "a crowded machine; a hung Redis never ends"
    assert delivered() == versions
