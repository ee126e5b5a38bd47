"""Follows streams: what happens to the person of the token, or to the public, as it happens."""

import time
from collections.abc import AsyncIterator, Iterator

import anyio

from tideline_client.awaiting import AsyncSiteCalls
from tideline_client.blocking import SiteCalls
from tideline_client.connections import AsyncConnection, Connection
from tideline_client.errors import TidelineError
from tideline_client.streams import (
    Following,
    Stream,
    StreamEvent,
    broken_connections,
    ended,
    is_stream,
)
from tideline_client.waiting import streaming_url


class StreamsCalls:
    """Streams, for a token of a person; `public` and `hashtag` for any token."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def follow(
        self,
        stream: Stream = "user",
        *,
        tag: str | None = None,
        list_id: str | None = None,
        last_event_id: str = "",
    ) -> Iterator[StreamEvent]:
        """Events as they happen, for ever. After a broken connection it goes on where it was, and
        yields a `resume` first. An event may come twice.

        `last_event_id`: the `id` of the last event that you have handled.
        Raises: TokenRefused, NotAllowed, NotFound, InvalidRequest.
        """
        following = Following(stream, last_event_id, tag=tag, list=list_id)
        while True:
            try:
                yield from self._connect(following)
            except TidelineError as error:
                time.sleep(following.pause_after(error))

    def _connect(self, following: Following) -> Iterator[StreamEvent]:
        """Until the connection ends. Raises: TidelineError, always."""
        connection = self._connection
        following.url = following.url or streaming_url(SiteCalls(connection).get())
        request = following.request(connection.caller)
        with broken_connections(), connection.http.stream(**request) as answer:
            if not is_stream(answer.status_code, answer.headers):
                following.refuse(answer.status_code, answer.headers, answer.read())
            for chunk in answer.iter_bytes():
                yield from following.read(chunk)
        raise ended()


class AsyncStreamsCalls:
    """As `StreamsCalls`."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def follow(
        self,
        stream: Stream = "user",
        *,
        tag: str | None = None,
        list_id: str | None = None,
        last_event_id: str = "",
    ) -> AsyncIterator[StreamEvent]:
        """As `StreamsCalls.follow`."""
        following = Following(stream, last_event_id, tag=tag, list=list_id)
        while True:
            try:
                async for event in self._connect(following):
                    yield event
            except TidelineError as error:
                await anyio.sleep(following.pause_after(error))

    async def _connect(self, following: Following) -> AsyncIterator[StreamEvent]:
        connection = self._connection
        following.url = following.url or streaming_url(await AsyncSiteCalls(connection).get())
        request = following.request(connection.caller)
        with broken_connections():
            async with connection.http.stream(**request) as answer:
                if not is_stream(answer.status_code, answer.headers):
                    following.refuse(answer.status_code, answer.headers, await answer.aread())
                async for chunk in answer.aiter_bytes():
                    for event in following.read(chunk):
                        yield event
        raise ended()
