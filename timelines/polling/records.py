"""What polling clients were served lately, in Redis.

    timelines.polls:v2:{reader}:{timeline}:{client}   hash, cursor (10 bytes) -> record
    record   entered:floor:seen until:known:                               numbers
             bytes of served:bytes of cut page:bytes of owed:              numbers
             ids that were served, none or two of the cut page, ids owed   10 bytes each
             stayed at:stayed times:                                       numbers
             ids that stayed                                               10 bytes each
    since    second of the first poll, as in ids; no record of a later cursor is missing

A record that is lost costs repetitions: late posts are returned once more. It costs a post if it
owes one that became visible before its cursor's post. So those of the last minutes are kept, also
while another client with the token leaves one with each page.
The records of a cursor from before `since` may have been more. So they are not believed.
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.caching.questions import Question, Replies, RoundTrip
from infra.caching.scripts import load_script
from infra.telemetry.reached_branches import reached
from posts.ids import PACKED_BYTES, PostId
from timelines.polling.types import MOST_LATE, CutPage, PollRecord

FAMILY = "timelines.polls:v2"
ENTER = load_script(Path(__file__).with_name("lua") / "enter_cursor.lua")
WRITE_RECORD = load_script(Path(__file__).with_name("lua") / "write_record.lua")
TTL_MS = 2 * 86_400_000
# Of one client and timeline. A client has one cursor. The other records are for clients that share
# a token, and for answers that were lost. Those whose cursors are at most KEPT_S older than the
# newest cursor are kept, up to MOST_RECORDS in all; of the older ones MOST_OLD.
KEPT_S, MOST_RECORDS, MOST_OLD = 120, 256, 12
# A page reads its entries at most this long after its late posts. If two pages read their late
# posts within this time, each may lack a post that the other one has.
PAGE_MS = 5_000
log = structlog.get_logger()

SINCE = b"since"
# Clocks of web processes differ by less.
SKEW_S = 2


class Poller(NamedTuple):
    """Who polls which timeline.

    `client`: the token, or the address of a client without one. None: this caller has no records.
    There may be several clients with it, and each may use both min_id and since_id.
    """

    owner: int | str
    timeline: str
    client: str | None

    @property
    def key(self) -> bytes:
        return key(FAMILY, self.owner, f"{self.timeline}:{self.client}")


class StoredRecord(NamedTuple):
    """What is stored of a cursor. `since`: from this second on no record is missing."""

    cursor: PostId
    record: PollRecord | None
    since: int

    @property
    def of_all(self) -> PollRecord | None:
        """What all clients with this cursor were served. None: that is not known."""
        return self.record if self.cursor.second > self.since + SKEW_S else None

    @property
    def entered(self) -> int:
        """How many pages ended at the cursor."""
        return self.record.entered if self.record is not None else 0


def load_record(
    poller: Poller, cursor: PostId, now_s: int, also: Iterable[Question[Any]] = ()
) -> StoredRecord:
    """The client's record of the cursor. `now_s`: the second of the poll, as in ids. `also`:
    questions that share the round trip.

    One round trip, one more for the first poll. Without Redis nothing is known.
    """
    trip = RoundTrip()
    asked = trip.ask(Question([("HMGET", poller.key, SINCE, cursor.packed)], _read_fields))
    for question in also:
        trip.ask(question)
    trip.run()
    try:
        begin, body = asked.value
        since = _decode_since(begin)
        if asked.is_away or since is None:
            redis().run(_begin(poller, now_s))
    except RedisError as error:
        log.warning("polls.records_not_read", error=str(error))
        return StoredRecord(cursor, None, now_s)
    record = None if body is None else _decode(body)
    return StoredRecord(cursor, record, now_s if since is None else since)


def _read_fields(replies: Replies) -> Sequence[bytes | None]:
    """Nothing without Redis."""
    return replies[0] if replies else (None, None)


def _decode_since(data: bytes | None) -> int | None:
    """None: there is none, or not a number. Then the records begin again."""
    return int(data) if data is not None and data.isdigit() else None


def _begin(poller: Poller, now_s: int) -> list[Command]:
    """From now on each page that the client may poll from leaves a record."""
    return [("HSET", poller.key, SINCE, now_s), ("PEXPIRE", poller.key, TTL_MS)]


class EnteredCursor(NamedTuple):
    """The change by a page that moved its client to another cursor, at which the page ended."""

    cursor: PostId
    record: PollRecord

    def command_for(self, poller: Poller) -> Command:
        cursor, record = self.cursor.packed, self.record
        times = record.floor, record.seen_until, record.known
        args = (cursor, *times, *_pack_lists(record), _encode_rest(record))
        return ENTER.on([poller.key], *args, TTL_MS, PAGE_MS, KEPT_S, MOST_RECORDS, MOST_OLD)


class ChangedRecord(NamedTuple):
    """Replaces the record of a cursor, if no other page has ended there since the record was read.

    Another page may be that of another client, whose record must stay. `entered`: the number of
    pages in the record that was read.
    """

    cursor: PostId
    record: PollRecord
    entered: int

    def command_for(self, poller: Poller) -> Command:
        record, lists = self.record, _pack_lists(self.record)
        numbers = record.entered, record.floor, record.seen_until, record.known, *map(len, lists)
        head = b"%d:%d:%d:%d:%d:%d:%d:" % numbers
        body = head + b"".join(lists) + _encode_rest(record)
        return WRITE_RECORD.on([poller.key], self.cursor.packed, self.entered, body, TTL_MS)


def save_records(poller: Poller, changes: Sequence[EnteredCursor | ChangedRecord]) -> bool:
    """False: Redis is away, and nothing may be recorded. One round trip, none without changes."""
    try:
        redis().run([change.command_for(poller) for change in changes])
    except RedisError as error:
        log.warning("polls.not_recorded", error=str(error))
        return False
    return True


def _pack_lists(record: PollRecord) -> list[bytes]:
    return [_pack(ids) for ids in (record.served, record.cut_page or (), record.owed)]


def _encode_rest(record: PollRecord) -> bytes:
    head = b"%d:%d:" % (record.stayed_at, record.stayed_times)
    return head + _pack(record.stayed)


def _pack(ids: Sequence[PostId]) -> bytes:
    """The last ones, if there are too many."""
    return b"".join([post_id.packed for post_id in ids[-MOST_LATE:]])


def _unpack(data: bytes) -> tuple[PostId, ...]:
    return tuple(PostId.from_packed(data, n) for n in range(0, len(data), PACKED_BYTES))


def _decode(data: bytes) -> PollRecord | None:
    """None: not a record, which only means that late posts are returned once more."""
    try:
        *numbers, tail = data.split(b":", 7)
        entered, floor, seen_until, known, *sizes = map(int, numbers)
        ends = [*accumulate(sizes, initial=0)]
        served, cut, owed = (_unpack(tail[start:end]) for start, end in pairwise(ends))
        stayed_at, stayed_times, stayed = tail[ends[-1] :].split(b":", 2)
        return PollRecord(
            entered,
            floor,
            seen_until,
            served=served,
            stayed=_unpack(stayed),
            stayed_at=int(stayed_at),
            stayed_times=int(stayed_times),
            cut_page=CutPage(*cut) if cut else None,
            known=known,
            owed=owed,
        )
    except (ValueError, TypeError, IndexError, struct.error):
        reached("polls.record_undecodable")
        log.warning("polls.record_undecodable", record=data[:64])
        return None
