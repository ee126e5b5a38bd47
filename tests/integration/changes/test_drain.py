"""The drain: every pending row reaches its consumers and is filed, wherever it breaks off."""

import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, connections, transaction
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ResponseError

from infra.caching.errors import RedisRefuses
from infra.changes import compensate as module
from infra.changes.append import append_change
from infra.changes.compensate import build_periodic_runner, drain
from infra.changes.registry import Payload, consumers_of, consumes
from infra.sharding.sql import execute, fetch_all, fetch_one
from tests.dying import armed, dying_at
from tests.integration.changes.kinds import (
    ALIAS,
    LANE,
    OTHER_OWNER,
    OWNER,
    BulkNoted,
    Noted,
    column,
    delivered,
    emit,
    let_wait_pass,
    note,
    parked,
    pending,
)
from tests.races import run_together
from tests.waiting import PATIENCE_S

FAILURES = "SELECT id, attempts, error FROM changes_change ORDER BY id"
NEXT_ATTEMPT = "SELECT next_attempt_at, clock_timestamp() FROM changes_change"
AGE = "UPDATE changes_change SET created_at = now() - %s * interval '1 s'"
BACK_OFF = "UPDATE changes_change SET next_attempt_at = now() + interval '300 s'"
PUT_OFF = "UPDATE changes_change SET next_attempt_at = next_attempt_at + interval '1 hour'"


def test_rows_are_delivered_in_order_in_one_run_and_filed(journal):
    versions = note(5)
    report = drain(ALIAS, LANE)
    assert journal.heard == [versions]
    assert (report.delivered, report.failed, report.parked, report.more) == (5, 0, 0, False)
    assert (pending(), delivered()) == ([], versions)


def test_delivery_carries_what_was_appended(journal):
    before = datetime.now(UTC)
    [version] = emit(Noted(7))
    drain(ALIAS, LANE)
    [delivery] = journal.deliveries
    assert (delivery.version, delivery.owner_id, delivery.payload) == (version, OWNER, Noted(7))
    assert before <= delivery.created_at <= datetime.now(UTC)


def test_filed_row_is_the_row_that_was(journal):
    note()
    columns = "SELECT id, lane, kind, owner_id, payload, created_at"
    before = fetch_all(ALIAS, f"{columns} FROM changes_change")
    drain(ALIAS, LANE)
    assert fetch_all(ALIAS, f"{columns} FROM changes_delivered") == before
    today = "SELECT delivered_on = (delivered_at AT TIME ZONE 'UTC')::date FROM changes_delivered"
    assert fetch_one(ALIAS, today) == (True,)


def test_batches(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 2)
    versions = note(5)
    assert drain(ALIAS, LANE, max_batches=2).more is True
    assert journal.heard == [versions[:2], versions[2:4]]
    assert drain(ALIAS, LANE).more is False
    assert delivered() == versions


def test_lanes_and_databases_are_drained_apart(journal):
    note()
    other_lane = note(owner_id=OTHER_OWNER)
    bulk = emit(BulkNoted())
    elsewhere = note(alias="shard1")
    drain(ALIAS, LANE)
    assert pending() == [*other_lane, *bulk]
    assert pending("shard1") == elsewhere


def test_rows_becoming_visible_out_of_order_are_not_skipped(journal):
    """The lower id commits after the higher one was delivered."""
    has_appended, may_commit = (threading.Barrier(2, timeout=PATIENCE_S) for _ in range(2))
    lower = []

    def slow():
        with transaction.atomic(using=ALIAS):
            lower.append(append_change(ALIAS, 4, Noted()))
            has_appended.wait()
            may_commit.wait()

    def fast():
        has_appended.wait()
        [higher] = note()
        assert higher > lower[0]
        drain(ALIAS, LANE)
        assert journal.versions == [higher]
        may_commit.wait()

    assert run_together([slow, fast]) == [None, None]
    drain(ALIAS, LANE)
    assert journal.versions[1:] == lower
    assert pending() == []


FAILPOINTS = {  # and how often the consumer hears each row
    "drain.before_delivery": 1,
    "deliver.after_consumer": 2,
    "drain.before_filing": 2,
    "drain.before_commit": 2,
    "drain.after_filing": 1,
}


@pytest.mark.parametrize(("place", "times"), FAILPOINTS.items())
def test_crash_anywhere_loses_nothing_and_files_once(journal, place, times):
    versions = note(3)
    with dying_at(place):
        drain(ALIAS, LANE)
    drain(ALIAS, LANE)
    assert journal.heard == [versions] * times
    assert (pending(), delivered()) == ([], versions)


def test_crash_in_one_consumer_of_several(journal):
    """What ran runs again, what did not run yet runs: in the order they were registered."""
    calls = []

    @consumes(Noted)
    def later(alias, deliveries):
        calls.append([delivery.version for delivery in deliveries])

    try:
        versions = note(2)
        with dying_at("deliver.after_consumer"):
            drain(ALIAS, LANE)
        assert (journal.heard, calls) == ([versions], [])
        drain(ALIAS, LANE)
        assert (journal.heard, calls) == ([versions, versions], [versions])
    finally:
        consumers_of("tests.noted").remove(later)


def test_failing_row_stands_alone(journal):
    versions = note(64)
    journal.fail_for(versions[40])
    report = drain(ALIAS, LANE)
    assert (report.delivered, report.failed, report.parked) == (63, 1, 0)
    assert sorted(journal.versions) == [v for v in versions if v != versions[40]]
    assert len(journal.heard) == 6  # halves: 32, 16, 8, 4, 2, 1
    assert fetch_all(ALIAS, FAILURES) == [(versions[40], 1, "ValueError: no such number")]
    assert delivered() == [v for v in versions if v != versions[40]]


@contextmanager
def backs_off_for(seconds):
    """The one row is put off by so much, or by what an age grew meanwhile, from within the block.

    Judged by when it began and ended, by the database's clock: the machine may be slow.
    """
    [(_, before)] = fetch_all(ALIAS, NEXT_ATTEMPT)
    yield
    [(next_attempt, after)] = fetch_all(ALIAS, NEXT_ATTEMPT)
    wait = timedelta(seconds=seconds)
    assert before + wait <= next_attempt <= after + wait + (after - before)


def test_failing_row_waits_longer_each_time_and_is_parked_with_its_error(journal, settings):
    settings.CHANGE_MAX_ATTEMPTS = 4
    [bad] = note()
    journal.fail_for(bad)
    for attempt in range(3):
        with backs_off_for(2**attempt):
            assert drain(ALIAS, LANE).parked == 0
        execute(ALIAS, PUT_OFF)  # its time does not come because the machine is slow
        assert drain(ALIAS, LANE).failed == 0, "it was asked before its time"
        let_wait_pass()
    assert drain(ALIAS, LANE).parked == 1
    assert parked() == [bad]
    assert fetch_all(ALIAS, FAILURES) == [(bad, 4, "ValueError: no such number")]
    let_wait_pass()
    journal.act = lambda _: None
    assert drain(ALIAS, LANE).delivered == 0
    assert journal.heard == []


def test_back_off_has_an_end(journal):
    note()
    execute(ALIAS, "UPDATE changes_change SET attempts = 100")
    journal.fail_for(*pending())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.CHANGE_MAX_ATTEMPTS", 1_000)
        with backs_off_for(300):
            drain(ALIAS, LANE)


@pytest.mark.parametrize(
    "error",
    [
        RedisConnectionError("away"),
        OutOfMemoryError("full"),
        RedisRefuses("no replicas"),
        OperationalError("away"),
    ],
)
def test_store_out_of_reach_parks_nobody_and_uses_up_no_attempts(journal, settings, error):
    settings.CHANGE_MAX_ATTEMPTS = 1
    versions = note(4)
    journal.fail_for(*versions, error=error)
    for _ in range(3):
        report = drain(ALIAS, LANE)
        assert (report.delivered, report.failed, report.parked) == (0, 4, 0)
        let_wait_pass()
    assert {attempts for _, attempts, _ in fetch_all(ALIAS, FAILURES)} == {0}
    journal.act = lambda _: None
    assert drain(ALIAS, LANE).delivered == 4


def test_redis_away_is_asked_once_a_batch(journal):
    versions = note(64)
    asked = []

    def away(deliveries):
        asked.append(len(deliveries))
        raise RedisConnectionError

    journal.act = away
    assert drain(ALIAS, LANE).failed == 64
    assert asked == [64]
    assert pending() == versions


def test_shard_away_holds_up_only_rows_that_need_it(journal):
    versions = note(8)
    journal.fail_for(*versions[2:4], error=OperationalError("shard3 is down"))
    assert drain(ALIAS, LANE).failed == 2
    assert pending() == versions[2:4]


def test_long_outage_is_asked_about_ever_less(journal):
    note()
    journal.fail_for(*pending(), error=OperationalError("away"))
    for age, wait in ((0, 0.25), (20, 5), (86_400, 30)):
        with backs_off_for(wait):
            execute(ALIAS, AGE, (age,))
            let_wait_pass()
            drain(ALIAS, LANE)


def test_redis_that_refuses_a_command_is_the_rows_own_fault(journal, settings):
    settings.CHANGE_MAX_ATTEMPTS = 1
    [bad] = note()
    journal.fail_for(bad, error=ResponseError("WRONGTYPE"))
    assert drain(ALIAS, LANE).parked == 1


@pytest.mark.parametrize(
    ("kind", "payload", "error"),
    [
        ("tests.unheard_of", "{}", "UnknownKind"),
        ("tests.noted", '{"number": "seven"}', "ValidationError"),
        ("tests.noted", "[]", "ValidationError"),
    ],
)
def test_row_nobody_can_read_is_parked_and_holds_up_nobody(journal, settings, kind, payload, error):
    settings.CHANGE_MAX_ATTEMPTS = 1
    first = note(3)
    insert = "INSERT INTO changes_change (lane, kind, owner_id, payload) VALUES (%s, %s, %s, %s)"
    execute(ALIAS, insert, (LANE, kind, OWNER, payload))
    rest = note(3)
    report = drain(ALIAS, LANE)
    assert (report.delivered, report.parked) == (6, 1)
    assert delivered() == [*first, *rest]
    assert column(ALIAS, "SELECT error FROM changes_change")[0].startswith(error)


def test_change_nobody_consumes_is_filed(journal):
    class Unheard(Payload, frozen=True):
        kind = "tests.nobody_listens"

    versions = emit(Unheard())
    assert drain(ALIAS, LANE).delivered == 1
    assert delivered() == versions


@pytest.mark.parametrize("text", ["half \ud800 of a pair", "a\x00b", "x" * 100_000])
def test_error_that_cannot_be_written_down_blocks_nobody(journal, text):
    bad, good = note(2)
    journal.fail_for(bad, error=ValueError(text))
    drain(ALIAS, LANE)
    assert (pending(), delivered()) == ([bad], [good])


def test_own_database_away_is_the_callers_news(journal):
    note()

    def end_own_session():
        execute(ALIAS, "SELECT pg_terminate_backend(pg_backend_pid())")

    with armed("drain.before_delivery", end_own_session), pytest.raises(OperationalError):
        drain(ALIAS, LANE)
    connections[ALIAS].close()
    assert drain(ALIAS, LANE).delivered == 1


def test_most_batches_has_a_default(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 1)
    note(module.MAX_BATCHES + 1)
    report = drain(ALIAS, LANE)
    assert (report.delivered, report.more) == (module.MAX_BATCHES, True)


def test_deliveries_are_numbered_in_their_order(journal, monkeypatch):
    """By `sequence`, also where a later batch has the lower ids."""
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 2)
    first, second, *later = note(5)
    journal.fail_for(first)
    drain(ALIAS, LANE)
    journal.clear()
    let_wait_pass()
    drain(ALIAS, LANE)
    assert column(ALIAS, "SELECT id FROM changes_delivered ORDER BY sequence") == [
        second,
        *later,
        first,
    ]


def test_changes_do_not_wait_until_a_clock_that_went_back_is_there_again(journal):
    """By an hour. The compensator makes them due; a row that backs off waits on."""
    versions = note(2)
    execute(ALIAS, PUT_OFF)
    [backing_off] = note()
    execute(ALIAS, f"{BACK_OFF} WHERE id = %s", (backing_off,))
    assert drain(ALIAS, LANE).delivered == 0
    build_periodic_runner().run_due([ALIAS])
    drain(ALIAS, LANE)
    assert (delivered(), pending()) == (versions, [backing_off])
