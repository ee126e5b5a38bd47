"""Positions in the change feed as text that a subscriber keeps, with a checksum of their own.

A text of old code has none, and lacks `written_by`. It is taken too, so that subscribers go on: if
its last row is there, behind it; if it names no row, with the whole day up to which it has read.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import msgspec

from infra.api.errors import InvalidRequest
from infra.changes.feed import FeedPosition
from integrations.types import SitePosition

# Of a text; 400 databases.
MOST_CHARACTERS = 32_000
CHECKSUM_BYTES = 6
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Timeline, transaction, sequence, two times in microseconds.
_OldNumbers = tuple[int, int, int, int, int]
# And the transaction that wrote the row.
_Numbers = tuple[int, int, int, int, int, int]
_decoder = msgspec.msgpack.Decoder(dict[str, _Numbers])
_old_decoder = msgspec.msgpack.Decoder(dict[str, _OldNumbers])


class PositionInvalid(InvalidRequest):
    """The text is not a position of the change feed."""

    status = 400
    text = "after is not a position of the change feed"


def encode_position(position: SitePosition) -> str:
    """About 60 characters for each database."""
    numbers = {alias: _numbers(each) for alias, each in sorted(position.by_alias.items())}
    packed = msgspec.msgpack.encode(numbers)
    return _text_of(_checksum(packed) + packed)


def decode_position(text: str) -> SitePosition:
    """Raises: PositionInvalid, also if a single letter is another one."""
    if len(text) > MOST_CHARACTERS:
        raise PositionInvalid
    try:
        content = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if _text_of(content) != text:
            raise PositionInvalid
        return SitePosition({alias: _position(*each) for alias, each in _read(content).items()})
    except (msgspec.MsgspecError, ValueError, OverflowError):
        raise PositionInvalid from None


def _text_of(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _checksum(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=CHECKSUM_BYTES).digest()


def _read(content: bytes) -> dict[str, _Numbers] | dict[str, _OldNumbers]:
    packed = content[CHECKSUM_BYTES:]
    if content[:CHECKSUM_BYTES] == _checksum(packed):
        return _decoder.decode(packed)
    return _old_decoder.decode(content)


def _numbers(position: FeedPosition) -> _Numbers:
    times = _microseconds(position.row_at), _microseconds(position.complete_at)
    return (*position[:3], *times, position.written_by)


def _position(
    timeline: int,
    transaction: int,
    sequence: int,
    row_us: int,
    complete_us: int,
    written_by: int = 0,
) -> FeedPosition:
    if min(timeline, transaction, sequence, row_us, complete_us, written_by) < 0:
        raise ValueError("negative")
    if max(transaction, sequence) >= 1 << 63 or max(timeline, written_by) >= 1 << 32:
        raise OverflowError
    row_at, complete_at = (_EPOCH + each * _MICROSECOND for each in (row_us, complete_us))
    return FeedPosition(timeline, transaction, sequence, row_at, complete_at, written_by)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
