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
    EnteredCursor,
    Poller,
    ReturnedPosts,
    load_record,
    save_records,
)
from timelines.polling.types import PollRecord, Returned

A, B, C = (PostId(second, 1, 0) for second in (1, 2, 3))
CURSOR, POLLER = PostId(9, 1, 0), Poller(7, "home", "token", b"m20")


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
}  # fmt: skip


@pytest.mark.parametrize("name", MERGED)
def test_a_record_of_two_pages(world, name):
    first, later, expected = MERGED[name]
    for record in (first, later):
        save_records(POLLER, [EnteredCursor(CURSOR, record)])
    assert load_record(POLLER, CURSOR, 0).record == expected


ONE = Returned(1, 5, (A,), (B,), (B,), (A, C))
# What a page returned, what a later one did, and what one of the two clients was returned.
ADDED = {
    "what any of them got": (ONE, Returned(0, 0, (C,)), Returned(1, 5, (A, C), (B,), (B,), (A, C))),
    "what comes again is the last": (
        Returned(served=(A, B, C)), Returned(served=(A,)), Returned(served=(B, C, A)),
    ),
    "what the later one got, the first one owes": (
        ONE, Returned(served=(B,)), Returned(1, 5, (A, B), (), (B,), (A, C)),
    ),
    "what the first one got, the later one owes": (
        ONE, Returned(0, 0, (), (A,), (A,)), Returned(1, 5, (A,), (B,), (B, A), (A, C)),
    ),
    "the later times, and the range of the last page that was cut": (
        ONE, Returned(7, 9, (), (B,), (B,), (B, C)), Returned(7, 9, (A,), (B,), (B,), (B, C)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ADDED)
def test_what_clients_with_one_cursor_and_way_were_returned(world, name):
    first, later, expected = ADDED[name]
    for one in (first, later):
        save_records(POLLER, [ReturnedPosts(CURSOR, one)])
    assert load_record(POLLER, CURSOR, 0).returned == expected
    other = load_record(POLLER._replace(way=b"m40"), CURSOR, 0)
    assert other.record is other.returned is None


def test_a_page_is_recorded_as_it_is(world):
    record = page(5, (A,), owed=(A, B))
    save_records(POLLER, [EnteredCursor(CURSOR, record), ReturnedPosts(CURSOR, ONE)])
    stored = load_record(POLLER, CURSOR, 0)
    assert (stored.record, stored.returned) == (record, ONE)
    assert TTL_MS - 60_000 < redis().call("PTTL", POLLER.key) <= TTL_MS


def enter(*seconds):
    for second in seconds:
        cursor = PostId(second, 1, 0)
        save_records(POLLER, [EnteredCursor(cursor, page(second)), ReturnedPosts(cursor, ONE)])


def seconds_of_records():
    fields = [field for field in redis().call("HKEYS", POLLER.key) if field != SINCE]
    ways = sorted(PostId.from_packed(field, 0).second for field in fields if field.endswith(b"m20"))
    assert len(fields) == 2 * len(ways)
    return ways


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
    assert (found.record, found.of_all) == (page(20), None)


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
    for field in (CURSOR.packed, CURSOR.packed + POLLER.way):
        redis().call("HSET", POLLER.key, field, "garbage")
    broken = load_record(POLLER, CURSOR, 0)
    assert broken.record is broken.returned is None
    enter(9)
    stored = load_record(POLLER, CURSOR, 0)
    assert (stored.record, stored.returned) == (page(9), ONE)
