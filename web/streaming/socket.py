"""Streams over WebSocket: one connection for any number of channels."""

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
import structlog

from web.streaming.channels import Channel
from web.streaming.connections import count_end
from web.streaming.errors import ChannelUnknown, StreamMissing, StreamRefused, TooManyStreams
from web.streaming.requests import StreamRequest
from web.streaming.responses import Send
from web.streaming.sse import Receive
from web.streaming.streams import Streams
from web.streaming.subscriber import CLIENT_LEFT, FAILED, SLOW, TOKEN_ENDED, Subscriber, first_of

MOST_CHANNELS = 50
_MOST_CHARACTERS = 4_096
# A client of people has sent fewer. Later ones are read slowly: each may ask a shard.
QUICK_MESSAGES, PAUSE_S = 100, 0.1
log = structlog.get_logger()
# Of RFC 6455: policy violation, try again later.
_REFUSED, _AGAIN = 1008, 1013


async def serve_socket(
    streams: Streams, path: str, request: StreamRequest, receive: Receive, send: Send
) -> None:
    """Until the client leaves. Raises: StreamRefused, before the connection is accepted."""
    if path:
        raise StreamMissing("WebSocket streams are at /api/v1/streaming")
    await receive()
    streams.connections.check_room()
    subscriber = await streams.in_thread(
        streams.admission.sign_in, request.token, request.network, True
    )
    with streams.connections.holding(subscriber):
        try:
            reason = await _serve(SocketSession(streams, subscriber), request, receive, send)
        finally:
            streams.admission.remove(subscriber)
    count_end(reason)
    if reason not in (CLIENT_LEFT, SLOW):
        await send(
            {"type": "websocket.close", "code": _REFUSED if reason == TOKEN_ENDED else _AGAIN}
        )


async def _serve(
    session: "SocketSession", request: StreamRequest, receive: Receive, send: Send
) -> str:
    if name := request.parameters.get("stream"):
        await session.begin(Channel.parse(name, request.parameters), request.last_id)
    # A browser fails if none of the protocols is accepted that it offers.
    accept = {"type": "websocket.accept"}
    await send(accept | ({"subprotocol": request.protocols[0]} if request.protocols else {}))
    return await first_of(
        _send_all(session.subscriber, send), session.listen(receive), session.subscriber
    )


async def _send_all(subscriber: Subscriber, send: Send) -> None:
    while True:
        for text in await subscriber.take():
            await send({"type": "websocket.send", "text": text.decode()})


class SocketSession:
    """What one client asks for over its connection."""

    def __init__(self, streams: Streams, subscriber: Subscriber) -> None:
        self._streams, self.subscriber = streams, subscriber
        self._messages = 0

    async def begin(self, channel: Channel, last_id: str) -> None:
        """The channel of the address. Raises: StreamRefused."""
        admission, in_thread = self._streams.admission, self._streams.in_thread
        if last_id:
            self.subscriber.is_replaying = True
            missed = await in_thread(admission.resume, self.subscriber, channel, last_id)
            self.subscriber.finish_replay(missed)
        else:
            await in_thread(admission.listen, self.subscriber, channel)

    async def listen(self, receive: Receive) -> None:
        """Until the client leaves."""
        while (event := await receive())["type"] == "websocket.receive":
            self._messages += 1
            if self._messages > QUICK_MESSAGES:
                await asyncio.sleep(PAUSE_S)
            await self._answer(event.get("text") or "")

    async def _answer(self, text: str) -> None:
        try:
            await self._obey(_read_message(text))
        except StreamRefused as error:
            refusal = {"error": error.text, "status": error.status}
            self.subscriber.put(orjson.dumps(refusal))
        except Exception:
            log.exception("streaming.message_failed")
            self.subscriber.end(FAILED)

    async def _obey(self, message: Mapping[str, Any]) -> None:
        channel = Channel.parse(str(message.get("stream", "")), _texts_of(message))
        subscriber, channels = self.subscriber, self.subscriber.channels
        if message.get("type") == "unsubscribe":
            self._streams.admission.leave(subscriber, channel)
        elif message.get("type") != "subscribe":
            raise ChannelUnknown("type must be subscribe or unsubscribe")
        elif len(channels) >= MOST_CHANNELS and channel not in channels:
            raise TooManyStreams(f"A connection has {MOST_CHANNELS} streams at most")
        elif channel not in channels:
            await self._streams.in_thread(self._streams.admission.listen, subscriber, channel)


def _read_message(text: str) -> Mapping[str, Any]:
    try:
        message = orjson.loads(text) if len(text) <= _MOST_CHARACTERS else None
    except orjson.JSONDecodeError:
        message = None
    if not isinstance(message, dict):
        raise ChannelUnknown('Send {"type": "subscribe", "stream": "user"}')
    return message


def _texts_of(message: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in message.items()}
