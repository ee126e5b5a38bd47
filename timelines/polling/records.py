"""What polling clients were served lately, in Redis.

    timelines.polls:v1:{reader}:{timeline}:{client}:{way}   hash, cursor (10 bytes) -> record
    record   entered:floor:seen until:bytes of served:   numbers
             ids that were served                        10 bytes each
             stayed at:stayed times:count:               numbers; count: ids of the cut page, 0 or 2
             these ids, then the ids that stayed         10 bytes each

A record that is lost costs a repetition: late posts are returned once more. It never costs a post.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.caching.scripts import load_script
from infra.telemetry.reached import reached
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

Records = Mapping[PostId, PollRecord]


class Poller(NamedTuple):
    """Who polls which timeline.

    `client`: the token, or the address of a client without one. None: this caller has no records.
    `way`: min_id or since_id. A client uses one of them, so each has records of its own.
    """

    owner: int | str
    timeline: str
    client: str | None
    way: str

    @property
    def key(self) -> bytes:
        return key(FAMILY, self.owner, f"{self.timeline}:{self.client}:{self.way}")


def load_records(poller: Poller) -> Records:
    """The client's records by cursor; empty without Redis. One round trip."""
    try:
        found = redis().call("HGETALL", poller.key)
    except RedisError as error:
        log.warning("polls.records_not_read", error=str(error))
        return {}
    decoded = map(_decode, found[::2], found[1::2])
    return dict(one for one in decoded if one is not None)


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
        rest = _pack(record.served), _encode_rest(record), _pack(self.owed)
        args = (cursor, record.floor, record.seen_until, *rest)
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
        head = b"%d:%d:%d:%d:" % (record.entered, record.floor, record.seen_until, len(served))
        body = head + served + _encode_rest(record)
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
    cut_ids = record.cut_page or ()
    head = b"%d:%d:%d:" % (record.stayed_at, record.stayed_times, len(cut_ids))
    return head + _pack(cut_ids) + _pack(record.stayed)


def _pack(ids: Iterable[PostId]) -> bytes:
    return b"".join([post_id.packed for post_id in islice(ids, MOST_LATE)])


def _unpack(data: bytes) -> list[PostId]:
    return [PostId.from_packed(data, n) for n in range(0, len(data), PACKED_BYTES)]


def _decode(cursor: bytes, data: bytes) -> tuple[PostId, PollRecord] | None:
    """None: not a record, which only means that late posts are returned once more."""
    try:
        *numbers, tail = data.split(b":", 4)
        entered, floor, seen_until, size = map(int, numbers)
        *numbers, packed = tail[size:].split(b":", 3)
        stayed_at, stayed_times, count = map(int, numbers)
        ids = _unpack(packed)
        cut_page, stayed = (CutPage(*ids[:2]) if count == 2 else None), tuple(ids[count:])
        seen = entered, floor, seen_until
        record = PollRecord(
            *seen, frozenset(_unpack(tail[:size])), stayed, stayed_at, stayed_times, cut_page
        )
        return PostId.from_packed(cursor), record
    except (ValueError, TypeError, IndexError, struct.error):
        reached("polls.record_undecodable")
        log.warning("polls.record_undecodable", record=data[:64])
        return None
