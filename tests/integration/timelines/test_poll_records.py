"""What the record of a cursor says after several pages ended there, and which records are kept."""

import pytest

from infra.caching.client import redis
from posts.ids import PostId
from timelines.polling import records
from timelines.polling.records import (
    KEPT_S,
    MOST_OLD,
    PAGE_MS,
    SINCE,
    TTL_MS,
    ChangedRecord,
    EnteredCursor,
    Poller,
    load_record,
    save_records,
)
from timelines.polling.types import CutPage, PollRecord

A, B, C = (PostId(second, 1, 0) for second in (1, 2, 3))
CURSOR, POLLER = PostId(9, 1, 0), Poller(7, "home", "token")
CUT = CutPage(A, C)


def page(at_ms, served=(), entered=1, **fields):
    return PollRecord(entered, at_ms, at_ms, served, known=at_ms, **fields)


def both(at_ms, served=(), **fields):
    return page(at_ms, served, entered=2, **fields)


# The page before, the later one, and the record of both.
MERGED = {
    "the later page knows what the earlier one had": (
        page(0, (A, B)), page(PAGE_MS, (C,)), both(0, (A, B)),
    ),
    "not what it owes": (
        page(0, (A, B)), page(PAGE_MS, (C,), owed=(B,)), both(0, (A,), owed=(B,)),
    ),
    "pages of one time may lack posts of each other": (
        page(0, (A, B)), page(PAGE_MS - 1, (B, C)), both(0, (B,)),
    ),
    "the page that was read first may end last": (
        page(PAGE_MS, (A, B)), page(0, (B, C)), both(0, (B,)),
    ),
    "what one of them owes is owed": (
        page(0, owed=(A, B)), page(1, owed=(B, C)), both(0, owed=(A, B, C)),
    ),
    "the earlier floor counts": (
        page(1)._replace(floor=5), page(1)._replace(floor=3), both(1)._replace(floor=3),
    ),
    "also that of the first page": (
        page(1)._replace(floor=3), page(1)._replace(floor=5), both(1)._replace(floor=3),
    ),
    "they know what both know": (
        page(1)._replace(known=5), page(1)._replace(known=3), both(1)._replace(known=3),
    ),
    "also if the first knows less": (
        page(1)._replace(known=3), page(1)._replace(known=5), both(1)._replace(known=3),
    ),
    "one may lack what the other one went down to": (
        page(0, cut_page=CUT), page(PAGE_MS, cut_page=CUT), both(0),
    ),
    "what came again at the cursor is known": (
        page(0, (A,), owed=(C,), stayed=(B,), stayed_at=4, stayed_times=2, cut_page=CUT), page(1),
        both(0, owed=(C,), stayed=(B,), stayed_at=4, stayed_times=2),
    ),
    "not if the later page was read before": (
        page(1, stayed=(B,), stayed_at=4, stayed_times=2), page(0), both(0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MERGED)
def test_a_record_of_two_pages(world, name):
    first, later, expected = MERGED[name]
    for record in (first, later):
        save_records(POLLER, [EnteredCursor(CURSOR, record)])
    assert load_record(POLLER, CURSOR, 0).record == expected


def test_a_page_is_recorded_as_it_is(world):
    record = page(5, (A,), owed=(A, B), stayed=(C,), stayed_at=3, stayed_times=1, cut_page=CUT)
    save_records(POLLER, [EnteredCursor(CURSOR, record)])
    assert load_record(POLLER, CURSOR, 0).record == record
    assert TTL_MS - 60_000 < redis().call("PTTL", POLLER.key) <= TTL_MS
    changed = record._replace(entered=7, owed=(C,))
    save_records(POLLER, [ChangedRecord(CURSOR, changed, entered=1)])
    assert load_record(POLLER, CURSOR, 0).record == changed


def enter(*seconds):
    for second in seconds:
        save_records(POLLER, [EnteredCursor(PostId(second, 1, 0), page(second))])


def seconds_of_records():
    fields = [field for field in redis().call("HKEYS", POLLER.key) if field != SINCE]
    return sorted(PostId.from_packed(field, 0).second for field in fields)


OLD = range(1_000, 1_000 + MOST_OLD + 2)
NEW = OLD[-1] + KEPT_S + 1


def test_records_of_long_ago_go_down_to_a_few_and_are_missing_from_then_on(world):
    load_record(POLLER, CURSOR, 10)
    enter(*OLD, NEW - 1)
    assert seconds_of_records() == [*OLD[1:], NEW - 1], "the last one is kept"
    enter(NEW)
    assert seconds_of_records() == [*OLD[2:], NEW - 1, NEW]
    assert int(redis().call("HGET", POLLER.key, SINCE)) == OLD[1]
    missing, kept = (load_record(POLLER, PostId(second, 1, 0), 0) for second in (OLD[1], NEW))
    assert missing.record is missing.of_all is None
    assert kept.of_all == page(NEW)


def test_a_record_that_is_not_missing_may_be_one_of_several(world):
    enter(20)
    load_record(POLLER, CURSOR, 18)
    found = load_record(POLLER, PostId(20, 1, 0), 0)
    assert (found.record, found.of_all, found.entered) == (page(20), None, 1)


def test_those_of_the_last_minutes_are_kept_up_to_a_number(world, monkeypatch):
    monkeypatch.setattr(records, "MOST_RECORDS", 20)
    load_record(POLLER, CURSOR, 10)
    enter(*range(1_000, 1_025))
    assert seconds_of_records() == list(range(1_005, 1_025))
    assert int(redis().call("HGET", POLLER.key, SINCE)) == 1_004


def test_a_later_begin_stays_and_a_missing_one_too(world):
    enter(*OLD, NEW)
    assert redis().call("HGET", POLLER.key, SINCE) is None
    load_record(POLLER, CURSOR, 9_000)
    enter(1, NEW + 1)
    assert int(redis().call("HGET", POLLER.key, SINCE)) == 9_000


def test_what_is_no_record_is_written_again(world):
    redis().call("SET", POLLER.key, "of another type")
    enter(9)
    assert load_record(POLLER, CURSOR, 0).record == page(9)
    redis().call("HSET", POLLER.key, CURSOR.packed, "garbage")
    assert load_record(POLLER, CURSOR, 0).record is None
    enter(9)
    assert load_record(POLLER, CURSOR, 0).record == page(9)
