"""Positions in the change feed as text that a subscriber keeps."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import msgspec

from infra.api.errors import InvalidRequest
from infra.changes.feed import FeedPosition
from integrations.types import SitePosition

# Of a text; 400 databases.
MOST_CHARACTERS = 32_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Timeline, transaction, sequence, two times in microseconds.
_Numbers = tuple[int, int, int, int, int]
_decoder = msgspec.msgpack.Decoder(dict[str, _Numbers])


class PositionInvalid(InvalidRequest):
    """The text is not a position of the change feed."""

    text = "after is not a position of the change feed"


def encode_position(position: SitePosition) -> str:
    """About 50 characters for each database."""
    numbers = {alias: _numbers(each) for alias, each in sorted(position.by_alias.items())}
    return urlsafe_b64encode(msgspec.msgpack.encode(numbers)).decode().rstrip("=")


def decode_position(text: str) -> SitePosition:
    """Raises: PositionInvalid."""
    if len(text) > MOST_CHARACTERS:
        raise PositionInvalid
    try:
        numbers = _decoder.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return SitePosition({alias: _position(*each) for alias, each in numbers.items()})
    except (msgspec.MsgspecError, ValueError, OverflowError):
        raise PositionInvalid from None


def _numbers(position: FeedPosition) -> _Numbers:
    *numbers, row_at, complete_at = position
    return (*numbers, _microseconds(row_at), _microseconds(complete_at))  # type: ignore[return-value]


def _position(
    timeline: int, transaction: int, sequence: int, row_us: int, complete_us: int
) -> FeedPosition:
    if min(timeline, transaction, sequence, row_us, complete_us) < 0:
        raise ValueError("negative")
    if max(transaction, sequence) >= 1 << 63 or timeline >= 1 << 31:
        raise OverflowError
    times = (_EPOCH + each * _MICROSECOND for each in (row_us, complete_us))
    return FeedPosition(timeline, transaction, sequence, *times)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
