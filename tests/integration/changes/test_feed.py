"""The feed of delivered changes of one database: all of them, in the order of their commits."""

import threading
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connections, transaction

from infra.changes.compensate import compensate
from infra.changes.errors import PositionLost, PositionTooOld
from infra.changes.feed import OLDEST, READ, position_before, position_now, read_feed
from infra.sharding.sql import execute, fetch_all
from tests.delivered import deliver_all
from tests.integration.changes.kinds import ALIAS, OWNER, BulkNoted, emit, note
from tests.waiting import PATIENCE_S, until
from tests.world import drain_all

FILE = """
INSERT INTO changes_delivered
    (delivered_on, id, lane, kind, owner_id, payload, created_at, delivered_at)
VALUES (now()::date, %s, 0, 'tests.noted', 2, '{}', now(), now())
"""
OUTBOX = """
SELECT id, aggregatetype, aggregateid, type FROM changes_outbox WHERE filed_by >= %s::xid8
ORDER BY filed_by, sequence
"""


def ids(page):
    return [change.id for change in page.changes]


def read_all(position, limit=100):
    seen = []
    while True:
        page = read_feed(ALIAS, position, limit)
        position = page.position
        if not page.changes:
            return seen, position
        seen += ids(page)


def test_reads_what_was_delivered_after_a_position(journal):
    start = position_now(ALIAS)
    versions = note(5)
    deliver_all()
    first = read_feed(ALIAS, start, 2)
    assert ids(first) == versions[:2]
    assert read_all(first.position, 2)[0] == versions[2:]
    assert read_all(first.changes[0].position)[0] == versions[1:]


def test_each_change_is_read_once_when_nothing_is_new(journal):
    start = position_now(ALIAS)
    versions = note(3)
    deliver_all()
    seen, end = read_all(start)
    assert seen == versions
    assert read_all(end)[0] == []


def test_changes_that_are_not_delivered_are_not_read(journal):
    start = position_now(ALIAS)
    note()
    assert read_all(start)[0] == []


def test_a_change_that_becomes_visible_late_is_not_skipped(journal):
    """The later transaction commits first; in both orders of their sequence numbers."""
    start = position_now(ALIAS)
    began, may_end = threading.Event(), threading.Event()

    def file_slowly():
        try:
            with transaction.atomic(using=ALIAS):
                execute(ALIAS, FILE, (1_000_001,))
                began.set()
                may_end.wait(PATIENCE_S)
                execute(ALIAS, FILE, (1_000_003,))
        finally:
            connections.close_all()

    slow = threading.Thread(target=file_slowly)
    slow.start()
    assert began.wait(PATIENCE_S)
    execute(ALIAS, FILE, (1_000_002,))
    seen, position = read_all(start)
    assert seen == []
    may_end.set()
    slow.join()
    # Transactions in the databases of other tests keep the rows back, too: the server counts them.
    until(lambda: len(read_all(position)[0]) == 3)
    assert read_all(position)[0] == [1_000_001, 1_000_003, 1_000_002]


def test_changes_of_an_owner_keep_their_order(journal):
    start = position_now(ALIAS)
    mine = [*note(3), *note(2)]
    emit(BulkNoted())
    compensate_all()
    deliver_all()
    assert [change for change in read_all(start)[0] if change in mine] == mine


def compensate_all():
    for _ in compensate(ALIAS):
        pass


def test_the_oldest_position_gets_all_that_is_kept(journal):
    versions = note(2)
    deliver_all()
    assert read_all(OLDEST)[0][-2:] == versions


def test_a_position_behind_dropped_changes_is_too_old(journal, settings):
    settings.CHANGE_REPLAY_DAYS = 7
    now = datetime.now(UTC)
    kept = position_now(ALIAS)._replace(complete_at=now - timedelta(days=6, hours=1))
    read_feed(ALIAS, kept, 1)
    with pytest.raises(PositionTooOld):
        read_feed(ALIAS, kept._replace(complete_at=now - timedelta(days=8)), 1)


def test_a_reader_that_keeps_reading_a_quiet_database_is_never_too_old(journal):
    old = position_now(ALIAS)._replace(complete_at=datetime.now(UTC) - timedelta(days=5))
    renewed = read_feed(ALIAS, old, 1).position
    assert datetime.now(UTC) - renewed.complete_at < timedelta(minutes=1)


def test_a_reader_that_waits_for_a_transaction_keeps_its_age(journal):
    """What waits was delivered before: it counts as unread from then on."""
    start = position_now(ALIAS)
    with transaction.atomic(using=ALIAS):
        execute(ALIAS, FILE, (1_000_004,))
        other = threading.Thread(target=lambda: (note(), drain_all(), connections.close_all()))
        other.start()
        other.join()
        position = in_thread(lambda: read_feed(ALIAS, start, 5)).position
    deliver_all()
    page = read_feed(ALIAS, position, 5)
    assert position.complete_at == page.changes[1].position.row_at


def in_thread(call):
    answers = []

    def run():
        try:
            answers.append(call())
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answers[0]


def test_a_promoted_server_that_has_the_last_change_goes_on(journal):
    start = position_now(ALIAS)
    versions = note(2)
    deliver_all()
    first = read_feed(ALIAS, start, 1).position
    before_promotion = first._replace(timeline=first.timeline + 1)
    page = read_feed(ALIAS, before_promotion, 5)
    assert ids(page) == versions[1:]
    assert page.position.timeline == first.timeline


@pytest.mark.parametrize("ahead", [0, 1 << 40])
def test_who_got_nothing_yet_has_lost_nothing_by_a_promotion(journal, ahead):
    """On a database without changes each position is one without a row."""
    now = position_now(ALIAS)._replace(sequence=0)
    versions = note(2)
    deliver_all()
    before = now._replace(timeline=now.timeline + 1, transaction=now.transaction + ahead)
    page = read_feed(ALIAS, before, 50)
    assert ids(page)[-2:] == versions
    assert read_feed(ALIAS, page.position, 50).changes == []


def test_a_dump_that_was_restored_on_another_server_is_noticed(journal):
    """It has all rows with their numbers, and new transactions would get the same ones again."""
    note(1)
    deliver_all()
    last = read_all(OLDEST)[1]
    with pytest.raises(PositionLost):
        read_feed(ALIAS, last._replace(written_by=last.written_by + 1), 5)
    assert read_feed(ALIAS, last._replace(written_by=0), 5).changes == [], "of old code"


def test_a_promoted_server_that_lacks_the_last_change_is_noticed(journal):
    """Another change may have the numbers of the lost one by now."""
    note(1)
    deliver_all()
    last = read_all(OLDEST)[1]
    lost = last._replace(timeline=last.timeline + 1, row_at=last.row_at + timedelta(microseconds=1))
    with pytest.raises(PositionLost):
        read_feed(ALIAS, lost, 5)


def test_a_server_that_lost_its_last_changes_is_noticed_without_a_promotion(journal):
    """A snapshot of the disk, or a dump that was restored on the same server."""
    versions = note(2)
    deliver_all()
    last = read_all(OLDEST)[1]
    execute(ALIAS, "DELETE FROM changes_delivered WHERE id = %s", (versions[-1],))
    with pytest.raises(PositionLost):
        read_feed(ALIAS, last, 5)


def test_a_server_that_counts_transactions_anew_is_noticed(journal):
    """A dump that was restored on a new server has the last row, and new rows would sort before."""
    note(1)
    deliver_all()
    last = read_all(OLDEST)[1]
    ahead = last._replace(transaction=last.transaction + (1 << 40))
    execute(ALIAS, AHEAD, (str(ahead.transaction), last.sequence))
    with pytest.raises(PositionLost):
        read_feed(ALIAS, ahead, 5)
    now = position_now(ALIAS)
    assert read_feed(ALIAS, now, 5).position.complete_at >= now.complete_at


AHEAD = "UPDATE changes_delivered SET filed_by = %s::xid8 WHERE sequence = %s"


def test_who_begins_with_the_oldest_change_is_not_too_old_on_the_next_page(journal, settings):
    """The day that is dropped next is left out, and so are days that should have been dropped."""
    days = settings.CHANGE_REPLAY_DAYS
    for ago in (days + 1, days):
        execute(ALIAS, FILE_AGO, {"ago": ago, "id": 1_000_010 + ago})
    versions = note(2)
    deliver_all()
    page = read_feed(ALIAS, OLDEST, 1)
    while page.changes:
        assert not {1_000_010 + days, 1_000_011 + days}.intersection(ids(page))
        last, page = page, read_feed(ALIAS, page.position, 1)
    assert ids(last) == versions[1:]


def test_who_needs_a_span_of_time_begins_with_its_day(journal, settings):
    for ago in (3, 1):
        execute(ALIAS, FILE_AGO, {"ago": ago, "id": 1_000_020 + ago})
    versions = note(2)
    deliver_all()
    now = datetime.now(UTC)
    day = timedelta(days=1)
    assert read_all(position_before(now - day))[0] == [1_000_021, *versions]
    assert read_all(position_before(now - 2 * day))[0] == [1_000_021, *versions]
    assert position_before(now - settings.CHANGE_REPLAY_DAYS * day) == OLDEST
    assert read_all(position_before(now + 2 * day))[0] == []


FILE_AGO = """
INSERT INTO changes_delivered
    (delivered_on, id, lane, kind, owner_id, payload, created_at, delivered_at)
SELECT day::date, %(id)s, 0, 'tests.noted', 2, '{}', day, day
FROM (SELECT date_trunc('day', now() AT TIME ZONE 'UTC' - %(ago)s * interval '1 day')) AS ago (day)
"""


@pytest.mark.parametrize("first_day", [date.min, datetime.now(UTC).date()])
def test_a_page_is_read_in_the_order_of_the_index(journal, first_day):
    values = {"transaction": 1, "sequence": 1, "limit": 10, "written_by": 0}
    values["row_at"] = datetime.now(UTC)
    with transaction.atomic(using=ALIAS):
        execute(ALIAS, "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        execute(ALIAS, "SET LOCAL enable_bitmapscan = off")  # the tables are small
        explained = fetch_all(ALIAS, f"EXPLAIN {READ}", values | {"first_day": first_day})
    plan = "\n".join(row[0] for row in explained)
    assert "Seq Scan" not in plan
    assert "filed_by_sequence_idx" in plan  # a partition of a few rows may be sorted


def test_the_outbox_view_has_what_the_feed_has(journal):
    start = position_now(ALIAS)
    versions = note(3)
    deliver_all()
    rows = fetch_all(ALIAS, OUTBOX, (str(start.transaction),))
    assert rows == [(version, "account", str(OWNER), "tests.noted") for version in versions]
    with transaction.atomic(using=ALIAS):
        execute(ALIAS, FILE, (1_000_009,))
        assert len(in_thread(lambda: fetch_all(ALIAS, OUTBOX, (str(start.transaction),)))) == 3
