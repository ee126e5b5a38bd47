"""What polling clients were served lately, in Redis.

    timelines.polls:v1:{reader}:{timeline}:{client}   hash, cursor (10 bytes) -> record
    record   entered:floor:seen until:bytes of served:bytes of cut page:   numbers
             ids that were served, then none or two of the cut page        10 bytes each
             stayed at:stayed times:                                       numbers
             ids that stayed                                               10 bytes each
    since    second of the first poll, as in ids; no record of a later cursor is missing

A record that is lost costs repetitions: late posts are returned once more. It never costs a post.
The records of a cursor from before `since` may have been more. So they are not believed.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
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

FAMILY = "timelines.polls:v1"
ENTER = load_script(Path(__file__).with_name("lua") / "enter_cursor.lua")
WRITE_RECORD = load_script(Path(__file__).with_name("lua") / "write_record.lua")
TTL_MS = 2 * 86_400_000
# Of one client and timeline. A client has one cursor. The other records are for clients that share
# a token, and for answers that were lost.
MOST_RECORDS = 12
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


class Records(NamedTuple):
    """The records of one client by cursor, and the second since when none of them is missing."""

    by_cursor: Mapping[PostId, PollRecord]
    since: int

    def find(self, cursor: PostId) -> PollRecord | None:
        """What all clients with this cursor were served. None: that is not known."""
        return self.by_cursor.get(cursor) if cursor.second > self.since + SKEW_S else None

    def count_entered(self, cursor: PostId) -> int:
        """How many pages ended at the cursor, as it is stored."""
        record = self.by_cursor.get(cursor)
        return record.entered if record is not None else 0


def load_records(poller: Poller, now_s: int, also: Iterable[Question[Any]] = ()) -> Records:
    """The client's records. `now_s`: the second of the poll, as in ids. `also`: questions that
    share the round trip.

    One round trip, one more for the first poll. Without Redis nothing is known.
    """
    trip = RoundTrip()
    asked = trip.ask(Question([("HGETALL", poller.key)], _read_fields))
    for question in also:
        trip.ask(question)
    trip.run()
    try:
        by_field = asked.value
        since = _decode_since(by_field.pop(SINCE, None))
        if asked.is_away or since is None:
            redis().run(_begin(poller, now_s))
    except RedisError as error:
        log.warning("polls.records_not_read", error=str(error))
        return Records({}, now_s)
    decoded = map(_decode, by_field.keys(), by_field.values())
    return Records(dict(filter(None, decoded)), now_s if since is None else since)


def _read_fields(replies: Replies) -> dict[bytes, bytes]:
    """Nothing without Redis."""
    raw = replies[0] if replies else ()
    return dict(zip(raw[::2], raw[1::2], strict=True))


def _decode_since(data: bytes | None) -> int | None:
    """None: there is none, or not a number. Then the records begin again."""
    return int(data) if data is not None and data.isdigit() else None


def _begin(poller: Poller, now_s: int) -> list[Command]:
    """From now on each page that the client may poll from leaves a record."""
    return [("HSET", poller.key, SINCE, now_s), ("PEXPIRE", poller.key, TTL_MS)]


class EnteredCursor(NamedTuple):
    """The change by a page that moved its client to another cursor.

    `cursor`, `record`: of the cursor at which the page ended. `owed`: visible posts that were not
    on the page.
    """

    cursor: PostId
    record: PollRecord
    owed: Sequence[PostId]

    def command_for(self, poller: Poller) -> Command:
        cursor, record = self.cursor.packed, self.record
        parts = _pack(record.served), _pack(record.cut_page or ()), _encode_rest(record)
        args = (cursor, record.floor, record.seen_until, *parts, _pack(self.owed))
        return ENTER.on([poller.key], *args, TTL_MS, MOST_RECORDS, PAGE_MS)


class ChangedRecord(NamedTuple):
    """Replaces the record of a cursor, if no other page has ended there since the record was read.

    Another page may be that of another client, whose record must stay. `entered`: the number of
    pages in the record that was read.
    """

    cursor: PostId
    record: PollRecord
    entered: int

    def command_for(self, poller: Poller) -> Command:
        record, served = self.record, _pack(self.record.served)
        cut = _pack(record.cut_page or ())
        seen = record.entered, record.floor, record.seen_until
        head = b"%d:%d:%d:%d:%d:" % (*seen, len(served), len(cut))
        body = head + served + cut + _encode_rest(record)
        return WRITE_RECORD.on([poller.key], self.cursor.packed, self.entered, body, TTL_MS)


def save_records(poller: Poller, changes: Sequence[EnteredCursor | ChangedRecord]) -> bool:
    """False: Redis is away, and nothing may be recorded. One round trip, none without changes."""
    try:
        redis().run([change.command_for(poller) for change in changes])
    except RedisError as error:
        log.warning("polls.not_recorded", error=str(error))
        return False
    return True


def _encode_rest(record: PollRecord) -> bytes:
    head = b"%d:%d:" % (record.stayed_at, record.stayed_times)
    return head + _pack(record.stayed)


def _pack(ids: Sequence[PostId]) -> bytes:
    """The last ones, if there are too many."""
    return b"".join([post_id.packed for post_id in ids[-MOST_LATE:]])


def _unpack(data: bytes) -> list[PostId]:
    return [PostId.from_packed(data, n) for n in range(0, len(data), PACKED_BYTES)]


def _decode(cursor: bytes, data: bytes) -> tuple[PostId, PollRecord] | None:
    """None: not a record, which only means that late posts are returned once more."""
    try:
        *numbers, tail = data.split(b":", 5)
        entered, floor, seen_until, size, cut_size = map(int, numbers)
        stayed_from = size + cut_size
        stayed_at, stayed_times, stayed = tail[stayed_from:].split(b":", 2)
        cut_ids = _unpack(tail[size:stayed_from])
        record = PollRecord(
            entered,
            floor,
            seen_until,
            served=tuple(_unpack(tail[:size])),
            stayed=tuple(_unpack(stayed)),
            stayed_at=int(stayed_at),
            stayed_times=int(stayed_times),
            cut_page=CutPage(*cut_ids) if cut_ids else None,
        )
        return PostId.from_packed(cursor), record
    except (ValueError, TypeError, IndexError, struct.error):
        reached("polls.record_undecodable")
        log.warning("polls.record_undecodable", record=data[:64])
        return None
