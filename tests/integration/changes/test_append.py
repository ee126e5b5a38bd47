"""append_change: in the transaction it reports, in the order of its owner's commits."""

from functools import partial

import pytest
from django.db import connections, transaction
from redis.exceptions import ConnectionError as RedisConnectionError
from structlog.testing import capture_logs

from accounts.actions.lock_account import lock_account
from counters.actions.move_counts import move_counts
from counters.kinds import CounterKind
from counters.types import ACCOUNT, CountMove
from infra.caching.client import redis
from infra.changes.append import append_change
from infra.changes.errors import NotInTransaction
from infra.changes.lanes import LaneGroup, all_lanes, lane_of
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    LANE,
    OWNER,
    BulkNoted,
    Noted,
    NotedInline,
    emit,
    note,
    pending,
)
from tests.races import failures, run_together
from tests.waiting import until
from tests.world import make_accounts

ROWS = """
SELECT lane, kind, owner_id, payload, state, attempts, error FROM changes_change ORDER BY id
"""


def test_row_is_written(journal):
    note(2)
    emit(BulkNoted())
    assert fetch_all(ALIAS, ROWS) == [
        (LANE, "tests.noted", OWNER, '{"number": 0}', 0, 0, ""),
        (LANE, "tests.noted", OWNER, '{"number": 1}', 0, 0, ""),
        (BULK_LANE, "tests.bulk_noted", OWNER, "{}", 0, 0, ""),
    ]


def test_owners_are_spread_over_the_lanes_and_bulk_has_its_own(journal, settings):
    settings.CHANGE_LANES, settings.BULK_LANES = 3, 1
    for owner_id in range(6):
        note(owner_id=owner_id)
    emit(BulkNoted())
    assert [row[0] for row in fetch_all(ALIAS, ROWS)] == [0, 2, 0, 2, 2, 1, 64]
    assert all_lanes() == [0, 1, 2, 64, 128, 160, 192, 224]


@pytest.mark.parametrize("group", [LaneGroup.ORDINARY, LaneGroup.BULK])
def test_the_owners_of_each_shard_are_spread_over_all_its_lanes(journal, group):
    """Whatever the numbers of shards and lanes have in common: here 4 and 2."""
    for shard in range(4):
        lanes = [lane_of(owner_id, group) - group for owner_id in range(shard, 4_000, 4)]
        assert abs(lanes.count(0) - 500) < 60
        assert set(lanes) == {0, 1}


def test_outside_a_transaction_it_is_refused(journal):
    with pytest.raises(NotInTransaction):
        append_change(ALIAS, OWNER, Noted())
    assert pending() == []


@pytest.mark.parametrize("other", ["shard1", "default"])
def test_in_the_transaction_of_another_database_it_is_refused(journal, other):
    with pytest.raises(NotInTransaction, match="on shard0"), transaction.atomic(using=other):
        append_change(ALIAS, OWNER, Noted())
    assert pending() == []


def test_rollback_leaves_nothing(journal):
    with pytest.raises(LookupError), transaction.atomic(using=ALIAS):
        append_change(ALIAS, OWNER, NotedInline())
        raise LookupError
    assert pending() == []
    assert journal.heard == []


def test_rolled_back_savepoint_leaves_nothing(journal):
    with transaction.atomic(using=ALIAS):
        kept = append_change(ALIAS, OWNER, NotedInline())
        with pytest.raises(LookupError), transaction.atomic(using=ALIAS):
            append_change(ALIAS, OWNER, NotedInline())
            raise LookupError
    assert pending() == [kept]
    assert journal.heard == [[kept]]


def test_at_once_consumers_run_after_the_commit(journal):
    """They, like everybody else, see what was committed."""
    seen = []
    journal.act = lambda _: seen.append(
        (
            connections[ALIAS].in_atomic_block,
            fetch_all(ALIAS, "SELECT count(*) FROM changes_change"),
        )
    )
    with transaction.atomic(using=ALIAS):
        version = append_change(ALIAS, OWNER, NotedInline())
        assert journal.heard == []
    assert journal.heard == [[version]]
    assert seen == [(False, [(1,)])]


def test_others_wait_for_the_drain(journal):
    note()
    assert journal.heard == []


def test_at_once_failure_does_not_break_the_request(journal):
    asked = []

    def fail(deliveries):
        asked.extend(delivery.version for delivery in deliveries)
        raise ValueError("a bug")

    journal.act = fail
    with capture_logs() as logs:
        versions = emit(NotedInline(), NotedInline())
    assert pending() == asked == versions
    assert [entry["event"] for entry in logs] == ["change.inline_failed"] * 2


def test_what_redis_did_not_get_is_sent_when_it_answers(journal):
    """By this process, without a drain, and as one call."""
    calls, is_away = [], True

    def act(deliveries):
        if is_away:
            raise RedisConnectionError("away")
        calls.append([delivery.version for delivery in deliveries])

    journal.act = act
    versions = emit(NotedInline(), NotedInline())
    with pytest.raises(RedisConnectionError):  # nothing else is read before they are sent
        redis().call("PING")
    is_away = False
    until(lambda: calls)
    assert (calls, pending()) == ([versions], versions)
    until(lambda: not redis()._breaker._recovering)


def test_wake_up_that_fails_in_an_unknown_way_does_not_break_the_request(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.append.wake_commands", lambda *_: 1 / 0)
    versions = emit(NotedInline())
    assert pending() == journal.versions == versions


def test_versions_of_an_owner_grow_in_the_order_of_its_commits(world):
    """Under the owner's lock; the counter moved beside it tells the order of the commits."""
    owners = make_accounts(3)
    calls = [partial(act, owner_id) for owner_id in owners for _ in range(8)]
    assert failures(run_together(calls)) == []
    told = "SELECT payload->>'number' FROM changes_change WHERE owner_id = %s ORDER BY id"
    for owner_id in owners:
        rows = fetch_all(shard_of(owner_id), told, (owner_id,))
        assert [int(number) for (number,) in rows] == list(range(1, 9))


def act(owner_id):
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        counts = move_counts(alias, [CountMove(owner_id, CounterKind.POSTS, 1)])
        version = counts[owner_id, ACCOUNT, CounterKind.POSTS].version
        append_change(alias, owner_id, Noted(version))


def test_payload_that_cannot_be_stored_rolls_back_its_transaction(journal):
    class Odd(Noted, frozen=True):
        kind = "tests.odd_" + "x" * 60

    with pytest.raises(Exception, match="too long"):
        emit(Noted(1), Odd())
    assert pending() == []
