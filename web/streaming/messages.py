"""Messages to clients, as each transport writes them."""

import orjson
from django.utils.functional import cached_property

from web.streaming.channels import Channel

# What a browser waits before it connects again; the others decide themselves.
RETRY_MS = 1_000
# An EventSource gets a message without data: it is no event, and moves the client's position.
_NOTHING = b"undefined"


class Message:
    """One event for all connections that get it. `payload`: JSON, or the id of a post; None: none.

    Encoded once for each transport.
    """

    def __init__(
        self, position: bytes, channel: Channel, event: str, payload: bytes | None
    ) -> None:
        self.position, self.channel, self.event, self.payload = position, channel, event, payload

    @cached_property
    def sse(self) -> bytes:
        data = _NOTHING if self.payload is None else self.payload
        # The id is last: there are clients that take an event by its first line.
        return b"event: %b\ndata: %b\nid: %b\n\n" % (self.event.encode(), data, self.position)

    @cached_property
    def socket(self) -> bytes:
        """Mastodon's message, with an id."""
        entity = {"stream": self.channel.stream, "event": self.event, "id": self.position.decode()}
        if self.payload is not None:
            entity["payload"] = self.payload.decode()
        return orjson.dumps(entity)
