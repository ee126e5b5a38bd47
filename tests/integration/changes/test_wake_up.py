"""A wake-up: one element in a Redis list for many changes, which a drainer removes."""

import time
from functools import partial

import pytest

from infra.caching.client import redis
from infra.changes.lanes import LaneGroup
from infra.changes.wake_up import await_wake_up, wake, wake_up_key
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    LANE,
    OTHER_OWNER,
    BulkNoted,
    FoldedNoted,
    emit,
    note,
)
from tests.races import run_together
from tests.waiting import PATIENCE_S

ORDINARY, BULK, FOLDED = LaneGroup.ORDINARY, LaneGroup.BULK, LaneGroup.FOLDED


def is_woken(group=ORDINARY, alias=ALIAS):
    return await_wake_up(alias, [group], 0.001)


def test_many_changes_are_one_wake_up(journal):
    for _ in range(5):
        note(4)
    assert redis().call("LLEN", wake_up_key(ALIAS, ORDINARY)) == 1
    assert is_woken()
    assert not is_woken()


def test_groups_of_lanes_and_databases_are_woken_apart(journal):
    note(owner_id=OTHER_OWNER)
    note()
    note(alias="shard1")
    emit(BulkNoted())
    assert [is_woken(group) for group in LaneGroup] == [True, True, *[False] * 4]
    assert is_woken(alias="shard1")
    assert not any(is_woken(group, alias) for group in LaneGroup for alias in (ALIAS, "shard1"))


def test_several_lanes_are_woken_in_one_round_trip(journal, monkeypatch):
    trips = []
    with monkeypatch.context() as patch:
        patch.setattr(redis(), "run", trips.append)
        wake(ALIAS, LANE, BULK_LANE, BULK_LANE + 1)
    assert [len(commands) for commands in trips] == [4]


def test_waiting_for_some_groups_leaves_the_others(journal):
    emit(BulkNoted(), FoldedNoted())
    assert await_wake_up(ALIAS, [ORDINARY, FOLDED], 0.001)
    assert is_woken(BULK)


def test_a_change_after_the_wake_up_wakes_again(journal):
    note()
    assert is_woken()
    note()
    assert is_woken()


def test_a_drainer_that_waits_is_woken(journal):
    woken, _ = run_together([partial(await_wake_up, ALIAS, [ORDINARY], 1.0), note])
    assert woken


def test_of_several_drainers_one_is_woken(journal):
    wait = partial(await_wake_up, ALIAS, [ORDINARY], 0.2)
    assert sorted(run_together([wait, wait, wait, note])[:3]) == [False, False, True]


@pytest.mark.usefixtures("no_redis")
def test_without_redis_a_write_neither_raises_nor_hangs(journal):
    began = time.monotonic()
    note(20)
    wake(ALIAS, LANE)
    assert time.monotonic() - began < PATIENCE_S / 5, "a crowded machine; a hung Redis never ends"
