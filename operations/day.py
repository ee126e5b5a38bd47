"""Points of the last day for the curves of the admin's first page. A compensator writes them.

    operations.day:v1:{fleet}   a stream with an entry per POINT_S; its id is the number of the
                                point since 1970: s → JSON

A point has the highest values of its five minutes over all databases, so a day has as many points
however many databases there are. The id stops a second compensator from writing a point twice. A
stream has POINT_COUNT points at most.
"""

import time

import msgspec
from redis.exceptions import ResponseError

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from operations.queries.curves import highest, series_of
from operations.samples import FLEET, SLOT_S, SLOT_TAKEN, read_samples

FAMILY = "operations.day:v1"
POINT_S = 300
POINT_COUNT = 288
EXPIRES_AFTER_S = 2 * POINT_S * POINT_COUNT


class DayPoint(msgspec.Struct, array_like=True):
    """None: not known. `delay_s`: of the oldest ordinary change. `failed`, `memory`: percent."""

    rate: float | None
    failed: float | None
    delay_s: float | None
    parked: float | None
    memory: float | None


def write_point(_alias: str) -> None:
    """As write_ended_point, of now."""
    write_ended_point(time.time())


def write_ended_point(now_s: float) -> None:
    """Writes the point that ended last, once. Two round trips. Raises: RedisError."""
    number = int(now_s // POINT_S) - 1
    begin_s = number * POINT_S
    databases, fleet = read_samples(begin_s - SLOT_S)
    end_s = begin_s + POINT_S - SLOT_S
    values = series_of(databases, fleet, end_s, POINT_S // SLOT_S + 1)
    point = DayPoint(*(_rounded(highest(numbers[1:])) for numbers in values))
    add = ("XADD", _key(), "MAXLEN", POINT_COUNT, f"{number}-0", "s", msgspec.json.encode(point))
    try:
        redis().run([add, ("EXPIRE", _key(), EXPIRES_AFTER_S)])
    except ResponseError as error:
        if SLOT_TAKEN not in str(error):
            raise


def read_day(now_s: float) -> list[DayPoint | None]:
    """The points of the last day in order, up to the one that ended last. One round trip.

    Raises: RedisError.
    """
    last = int(now_s // POINT_S) - 1
    first = last - POINT_COUNT + 1
    decoder = msgspec.json.Decoder(DayPoint)
    entries = redis().call("XRANGE", _key(), f"{first}-0", f"{last}-0")
    points = {int(id_.partition(b"-")[0]): decode(FAMILY, decoder.decode, fields[1])
              for id_, fields in entries}  # fmt: skip
    return [points.get(number) for number in range(first, last + 1)]


def _key() -> bytes:
    return key(FAMILY, FLEET)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
