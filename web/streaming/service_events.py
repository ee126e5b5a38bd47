"""The change feed for services that keep a connection: server-sent events, or an answer that waits.

Positions are those of the change feed, so a service may go on over HTTP, here or by a command.
"""

import asyncio
from collections.abc import Iterator

import orjson
from redis import RedisError

from infra.changes.errors import PositionTooOld
from infra.sharding.errors import NO_ANSWER
from integrations.api.present import present_page
from integrations.positions import PositionInvalid, encode_position
from integrations.queries.events import first_position, read_events
from integrations.sinks import encode_event
from integrations.types import EventPage, SitePosition
from web.streaming.call_threads import CallThreads
from web.streaming.connections import HEARTBEAT_S, count_end
from web.streaming.errors import (
    FeedGone,
    StoreAway,
    StreamScopeMissing,
    WrongParameter,
    WrongPosition,
)
from web.streaming.messages import RETRY_MS
from web.streaming.requests import StreamRequest
from web.streaming.responses import Send, cross_origin
from web.streaming.sse import STREAM_HEADERS, Receive, leave
from web.streaming.streams import Streams
from web.streaming.subscriber import CLIENT_LEFT, FEED_GONE, SLOW, Subscriber, first_of

PATH, SCOPE = "/services/events", "service:changes"
LONGEST_WAIT_S = 60
_PAGE = 500
_QUIET_S, _AWAY_S = 0.25, 1.0


async def serve_events(
    streams: Streams, request: StreamRequest, receive: Receive, send: Send
) -> None:
    """Until the client leaves; with `wait`, one answer. Raises: StreamRefused.

    Cost: of each connection, a page of the feed four times a second.
    """
    wait_s = _read_wait(request)
    streams.connections.check_room()
    subscriber = await streams.in_thread(
        streams.admission.sign_in, request.token, request.network, False
    )
    if SCOPE not in subscriber.viewer.scopes:
        raise StreamScopeMissing(f"This stream needs the scope {SCOPE}")
    with streams.connections.holding(subscriber):
        # A bulk service that reads all that is kept must not delay the others.
        is_bulk = subscriber.viewer.is_bulk
        threads = streams.bulk_threads if is_bulk else streams.service_threads
        feed = ServiceFeed(threads, await threads.call(_begin, request))
        page = await feed.read()
        if wait_s is not None:
            await _answer_once(feed, page, wait_s, request, send)
            return
        headers = [*STREAM_HEADERS, *cross_origin(request)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sending = _send_all(feed, page, subscriber, send)
        reason = await first_of(sending, leave(receive), subscriber)
    count_end(reason)
    if reason not in (CLIENT_LEFT, SLOW):
        await send({"type": "http.response.body", "body": b""})


class ServiceFeed:
    """The events of the site behind a position, a page after the other."""

    def __init__(self, threads: CallThreads, after: SitePosition) -> None:
        self._threads, self._after = threads, after

    async def read(self) -> EventPage:
        """The next page, perhaps without events. Raises: FeedGone."""
        page = await self._threads.call(_read, self._after)
        self._after = page.position
        return page


def _begin(request: StreamRequest) -> SitePosition:
    """Raises: WrongPosition, StoreAway."""
    try:
        return first_position(request.last_id or request.parameters.get("after"))
    except PositionInvalid as error:
        raise WrongPosition(error.text) from None
    except NO_ANSWER:
        raise StoreAway("Try again in a moment") from None


def _read(after: SitePosition) -> EventPage:
    """Nothing, while no database answers. Raises: FeedGone."""
    try:
        return read_events(after, _PAGE)
    except PositionTooOld as error:
        raise FeedGone(error.text, code=error.code) from None
    except (*NO_ANSWER, RedisError):
        return EventPage([], after, [*after.by_alias], has_more=False)


async def _send_all(feed: ServiceFeed, page: EventPage, subscriber: Subscriber, send: Send) -> None:
    """A service that reads slowly is not read for: its page waits."""
    body = b"retry: %d\n%b" % (RETRY_MS, _heartbeat(page))
    silent_s = 0.0
    while True:
        body += b"".join(_frames(page))
        if body or silent_s >= HEARTBEAT_S:
            text = body or _heartbeat(page)
            await send({"type": "http.response.body", "body": text, "more_body": True})
            body, silent_s = b"", 0.0
        if not page.has_more:
            pause_s = _AWAY_S if page.missing else _QUIET_S
            await asyncio.sleep(pause_s)
            silent_s += pause_s
        try:
            page = await feed.read()
        except FeedGone as error:
            told = orjson.dumps({"error": error.text, "code": error.code})
            text = b"event: error\ndata: %b\n\n" % told
            await send({"type": "http.response.body", "body": text, "more_body": True})
            subscriber.end(FEED_GONE)
            return


def _frames(page: EventPage) -> Iterator[bytes]:
    """Only the last event of a page moves the service behind it: who got the others only gets them
    again."""
    for number, event in enumerate(page.events, 1):
        is_last = number == len(page.events)
        place = b"id: %b\n" % encode_position(page.position).encode() if is_last else b""
        yield b"event: %b\ndata: %b\n%b\n" % (event.type.encode(), encode_event(event), place)


def _heartbeat(page: EventPage) -> bytes:
    """It also keeps the position from getting too old. Only for a page without events."""
    if page.events:
        return b"\n"
    return b":thump\nid: %b\n\n" % encode_position(page.position).encode()


def _read_wait(request: StreamRequest) -> int | None:
    text = request.parameters.get("wait")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= LONGEST_WAIT_S):
        raise WrongParameter(f"wait must be a number of seconds, at most {LONGEST_WAIT_S}")
    return int(text)


async def _answer_once(
    feed: ServiceFeed, page: EventPage, wait_s: float, request: StreamRequest, send: Send
) -> None:
    """The next events as soon as there are some, or none after that time."""
    while not page.events and wait_s > 0:
        await asyncio.sleep(_QUIET_S)
        wait_s -= _QUIET_S
        page = await feed.read()
    headers = [(b"content-type", b"application/json"), *cross_origin(request)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(present_page(page))})
