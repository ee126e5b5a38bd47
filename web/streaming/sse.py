"""Streams over HTTP: server-sent events."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from web.streaming.channels import Channel, channel_of_path
from web.streaming.connections import count_end
from web.streaming.errors import StreamMissing
from web.streaming.messages import RETRY_MS
from web.streaming.requests import StreamRequest
from web.streaming.responses import Send, cross_origin
from web.streaming.streams import Streams
from web.streaming.subscriber import CLIENT_LEFT, SLOW, Subscriber, first_of

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    # nginx must not wait for more.
    (b"x-accel-buffering", b"no"),
]


async def serve_sse(
    streams: Streams, path: str, request: StreamRequest, receive: Receive, send: Send
) -> None:
    """Until the client leaves. `path`: below the root of the streams. Raises: StreamRefused."""
    if not path:
        raise StreamMissing("Name a stream: /api/v1/streaming/user, or connect by WebSocket")
    channel = channel_of_path(path, request.parameters)
    streams.connections.check_room()
    subscriber = await streams.in_thread(
        streams.admission.sign_in, request.token, request.network, False
    )
    subscriber.knows_positions = request.is_event_source
    with streams.connections.holding(subscriber):
        try:
            await _begin(streams, subscriber, channel, request.last_id)
            headers = [*STREAM_HEADERS, *cross_origin(request)]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            reason = await first_of(_send_all(subscriber, send), leave(receive), subscriber)
        finally:
            streams.admission.remove(subscriber)
    count_end(reason)
    if reason not in (CLIENT_LEFT, SLOW):
        await send({"type": "http.response.body", "body": b""})


async def _begin(streams: Streams, subscriber: Subscriber, channel: Channel, last_id: str) -> None:
    admission = streams.admission
    if last_id:
        subscriber.is_replaying = True
        missed = await streams.in_thread(admission.resume, subscriber, channel, last_id)
        _greet(subscriber, b"")
        subscriber.finish_replay(missed)
    else:
        position = await streams.in_thread(admission.listen, subscriber, channel)
        _greet(subscriber, b"id: %b\n" % position)


def _greet(subscriber: Subscriber, position: bytes) -> None:
    """Something must be sent, so that a proxy passes the head of the answer on."""
    if subscriber.knows_positions:
        subscriber.put(b"retry: %d\n%b\n" % (RETRY_MS, position))
    else:
        subscriber.put(b":)\n\n")


async def _send_all(subscriber: Subscriber, send: Send) -> None:
    while True:
        body = b"".join(await subscriber.take())
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def leave(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
