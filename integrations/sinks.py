"""Where `follow_changes` writes events: standard output, or a stream of Redis."""

from collections.abc import Sequence
from typing import Protocol, TextIO

import orjson
from redis import Redis

from integrations.api.present import present_event
from integrations.types import Event

SEND_S = 5.0


class EventSink(Protocol):
    def write(self, events: Sequence[Event]) -> None:
        """Returns when the events are kept. May be called again with events that it has."""


class LineSink:
    """A line of JSON for each event."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, events: Sequence[Event]) -> None:
        """Raises: OSError when the reader has gone."""
        for event in events:
            self._out.write(f"{encode_event(event).decode()}\n")
        self._out.flush()


class StreamSink:
    """An entry of a Redis stream for each event, with its id, type and JSON."""

    def __init__(self, url: str, stream: str, most: int) -> None:
        """`most`: about how many entries the stream keeps."""
        self._redis = Redis.from_url(url, socket_timeout=SEND_S, socket_connect_timeout=SEND_S)
        self._stream, self._most = stream, most

    def write(self, events: Sequence[Event]) -> None:
        """One round trip, in one transaction. Raises: RedisError."""
        with self._redis.pipeline(transaction=True) as pipeline:
            for event in events:
                entry = {"id": event.id, "type": event.type, "event": encode_event(event)}
                pipeline.xadd(self._stream, entry, maxlen=self._most, approximate=True)  # type: ignore[arg-type]
            pipeline.execute()


def encode_event(event: Event) -> bytes:
    """As the API shows it."""
    return orjson.dumps(present_event(event))
