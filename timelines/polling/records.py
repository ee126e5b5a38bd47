"""What polling clients were served lately, in Redis.

    timelines.polls:v3:{reader}:{timeline}:{client}   hash
    cursor      10 bytes -> what all clients with it were served
                entered:floor:seen until:known:bytes of served:bytes of owed:    numbers
                ids that were served, ids owed                                   10 bytes each
    cursor way  10 bytes and how its clients poll: the parameter and the limit, as m20
                -> what one of them was returned
                floor:known:bytes of served:bytes of owed:bytes of pending:      numbers
                ids that were returned, ids owed, ids pending, none or two of    10 bytes each
                the cut page
    since       second of the first poll, as in ids; no record of a later cursor is missing

A record that is lost costs repetitions: late posts are returned once more. It costs a post if it
owes one that became visible before its cursor's post. So those of the last minutes are kept, also
while another client with the token leaves one with each page.
The records of a cursor from before `since` may have been more. So they are not believed.
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import structlog
from redis.exceptions import RedisError

from infra.api.pages import Window
from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.caching.questions import Question, Replies, RoundTrip
from infra.caching.scripts import load_script
from infra.telemetry.reached_branches import reached
from posts.ids import PACKED_BYTES, PostId
from timelines.polling.types import MOST_LATE, PollRecord, Returned

FAMILY = "timelines.polls:v3"
ENTER = load_script(Path(__file__).with_name("lua") / "enter_cursor.lua")
ADD_RETURNED = load_script(Path(__file__).with_name("lua") / "add_returned.lua")
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
    There may be several clients with it. `way`: how this one polls; empty for an ordinary page.
    """

    owner: int | str
    timeline: str
    client: str | None
    way: bytes = b""

    def polling(self, window: Window) -> Self:
        """The client that sends this poll."""
        parameter = b"s" if window.min_id is None else b"m"
        return self._replace(way=b"%b%d" % (parameter, window.limit))

    @property
    def key(self) -> bytes:
        return key(FAMILY, self.owner, f"{self.timeline}:{self.client}")


class StoredRecord(NamedTuple):
    """What is stored of a cursor. `since`: from this second on no record is missing."""

    cursor: PostId
    record: PollRecord | None
    returned: Returned | None
    since: int

    @property
    def of_all(self) -> PollRecord | None:
        """What all clients with this cursor were served. None: that is not known."""
        return self.record if self.cursor.second > self.since + SKEW_S else None


def load_record(
    poller: Poller, cursor: PostId, now_s: int, also: Iterable[Question[Any]] = ()
) -> StoredRecord:
    """The client's record of the cursor. `now_s`: the second of the poll, as in ids. `also`:
    questions that share the round trip.

    One round trip, one more for the first poll. Without Redis nothing is known.
    """
    trip, place = RoundTrip(), cursor.packed
    fields = ("HMGET", poller.key, SINCE, place, place + poller.way)
    asked = trip.ask(Question([fields], _read_fields))
    for question in also:
        trip.ask(question)
    trip.run()
    try:
        begin, body, returned = asked.value
        since = _decode_since(begin)
        if asked.replies is None or since is None:
            redis().run(_begin(poller, now_s))
    except RedisError as error:
        log.warning("polls.records_not_read", error=str(error))
        return StoredRecord(cursor, None, None, now_s)
    since = now_s if since is None else since
    return StoredRecord(cursor, _decode_record(body), _decode_returned(returned), since)


def _read_fields(replies: Replies) -> Sequence[bytes | None]:
    """Nothing without Redis."""
    return replies[0] if replies else (None, None, None)


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
        times, lists = (record.floor, record.seen_until, record.known), (record.served, record.owed)
        args = (cursor, *times, *map(_pack, lists), TTL_MS, PAGE_MS)
        return ENTER.on([poller.key], *args, KEPT_S, MOST_RECORDS, MOST_OLD)


class ReturnedPosts(NamedTuple):
    """What a page returned to a client that now has this cursor. It is added to what the other
    clients that poll in the same way were."""

    cursor: PostId
    returned: Returned

    def command_for(self, poller: Poller) -> Command:
        field, record = self.cursor.packed + poller.way, self.returned
        lists = map(_pack, (record.served, record.owed, record.pending, record.cut))
        args = (field, record.floor, record.known, *lists, TTL_MS, 2 * MOST_LATE)
        return ADD_RETURNED.on([poller.key], *args)


def save_records(poller: Poller, changes: Sequence[EnteredCursor | ReturnedPosts]) -> bool:
    """False: Redis is away, and nothing may be recorded. One round trip, none without changes."""
    try:
        redis().run([change.command_for(poller) for change in changes])
    except RedisError as error:
        log.warning("polls.not_recorded", error=str(error))
        return False
    return True


def _pack(ids: Sequence[PostId]) -> bytes:
    """The last ones, if there are too many."""
    return b"".join([post_id.packed for post_id in ids[-MOST_LATE:]])


def _unpack(data: bytes) -> tuple[PostId, ...]:
    return tuple(PostId.from_packed(data, n) for n in range(0, len(data), PACKED_BYTES))


def _decode_record(data: bytes | None) -> PollRecord | None:
    """None: not a record, which only means that late posts are returned once more."""
    if (fields := _decode(data, 4, 2)) is None:
        return None
    (entered, floor, seen_until, known), (served, owed, _) = fields
    return PollRecord(entered, floor, seen_until, served, known, owed)


def _decode_returned(data: bytes | None) -> Returned | None:
    """As `_decode_record`."""
    if (fields := _decode(data, 2, 3)) is None:
        return None
    (floor, known), (served, owed, pending, cut) = fields
    return Returned(floor, known, served, owed, pending, cut)


def _decode(
    data: bytes | None, numbers: int, lists: int
) -> tuple[list[int], list[tuple[PostId, ...]]] | None:
    """Its numbers and lists, the last of which has no size."""
    if data is None:
        return None
    try:
        *head, tail = data.split(b":", numbers + lists)
        values = [*map(int, head)]
        ends = [*accumulate(values[numbers:], initial=0), len(tail)]
        return values[:numbers], [_unpack(tail[start:end]) for start, end in pairwise(ends)]
    except (ValueError, struct.error):
        reached("polls.record_undecodable")
        log.warning("polls.record_undecodable", record=data[:64])
        return None
