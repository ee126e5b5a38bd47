"""Where a client is in the streams: the id of each message.

It names the last change of each database that came before the message, and a time. All streaming
processes read the same changes in the same order, so a client may go on at another process.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from infra.changes.feed import FeedPosition

MOST_CHARACTERS = 8_000
# Timeline of the server's log, transaction and sequence of a change. A server that was restored
# counts its transactions from an earlier one, on a later timeline.
Place = tuple[int, int, int]
_decoder = msgspec.msgpack.Decoder(tuple[int, dict[str, Place]])


class ClientPosition(NamedTuple):
    """`at_ms`: Unix milliseconds, by the clock of the database of the last change."""

    at_ms: int
    by_alias: Mapping[str, Place]


def place_of(position: FeedPosition) -> Place:
    return position.timeline, position.transaction, position.sequence


def encode_position(position: ClientPosition) -> bytes:
    """About 20 characters for each database."""
    return urlsafe_b64encode(msgspec.msgpack.encode(position)).rstrip(b"=")


def decode_position(text: str) -> ClientPosition | None:
    """None: this is no position."""
    if not text.isascii() or len(text) > MOST_CHARACTERS:
        return None
    try:
        numbers = _decoder.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (msgspec.MsgspecError, ValueError):
        return None
    return ClientPosition(*numbers)
