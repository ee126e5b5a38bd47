"""The streaming application in this process, on the real databases, and clients that listen to it.

Between them is ASGI and no network: tests/faults has the server.
"""

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from infra.changes.feed import position_of_recent
from infra.sharding.shards import all_aliases
from tests.callers import token_of
from tests.delivered import deliver_all
from tests.waiting import until
from tests.world import publish
from web.streaming.application import StreamingApplication
from web.streaming.channels import Channel
from web.streaming.positions import place_of

SCOPES = "read write follow"
_RECEIVE_S = 60


class Heard(NamedTuple):
    """`id`: of the message; `stream`: only over WebSocket."""

    event: str
    payload: str
    id: str
    stream: list[str] | None = None

    @property
    def post_id(self) -> str:
        """Of the post that it shows, or that is gone."""
        return (
            json.loads(self.payload).get("id", "") if self.payload.startswith("{") else self.payload
        )


class Site:
    """A streaming process."""

    def __init__(self, most: int = 1_000) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.application = StreamingApplication(most)
        self._wait_for(self.application.start())
        self._clients: list[Client] = []

    def listen(
        self, account_id: int | None, path: str = "user", last_id: str = "", **options: Any
    ) -> "Client":
        """Opens a stream over HTTP, and waits for its answer."""
        self.catch_up()
        client = self.open(account_id, path, last_id, **options)
        client.await_sent("http.response.start")
        if client.status == 200:
            until(lambda: client.text)
        return client

    def open(
        self,
        account_id: int | None,
        path: str = "user",
        last_id: str = "",
        scope: str = SCOPES,
        token: str | None = None,
        headers: Mapping[str, str] = {},
        **parameters: str,
    ) -> "Client":
        sent = {"accept": "text/event-stream", **headers}
        if token is None and account_id is not None:
            token = token_of(account_id, scope)
        if token:
            sent["authorization"] = f"Bearer {token}"
        if last_id:
            sent["last-event-id"] = last_id
        return self._begin("http", f"/api/v1/streaming/{path}", sent, parameters)

    def connect(
        self, account_id: int, last_id: str = "", token: str = "", **parameters: str
    ) -> "Client":
        """Opens a WebSocket."""
        self.catch_up()
        token = token or token_of(account_id, SCOPES)
        if last_id:
            parameters["last_event_id"] = last_id
        client = self._begin("websocket", "/api/v1/streaming", {}, parameters, [token])
        client.give({"type": "websocket.connect"})
        client.await_sent("websocket.accept", "websocket.http.response.start")
        return client

    def ask(self, method: str, path: str, **headers: str) -> "Client":
        client = self._begin("http", path, headers, {}, method=method)
        client.await_sent("http.response.start")
        return client

    def catch_up(self) -> None:
        """Waits until the process has read all that was delivered: else a new client gets it,
        as of news."""
        self.application._streams._feeds.watch()
        now = self.application._streams._router.history._now
        for alias in all_aliases():
            newest = place_of(position_of_recent(alias, 0))
            until(lambda alias=alias, newest=newest: now.get(alias, (-1, 0, 0)) >= newest)

    def channels_of(self, account_id: int) -> set[Channel]:
        directory = self.application._streams.admission._directory
        with directory.lock:
            return {
                channel
                for subscriber in directory.subscribers()
                if subscriber.account_id == account_id
                for channel in subscriber.channels
            }

    def stop(self) -> None:
        for client in self._clients:
            client.leave()
        self._wait_for(self.application.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def _wait_for(self, done: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(done, self.loop).result(_RECEIVE_S)

    def _begin(
        self,
        kind: str,
        path: str,
        headers: Mapping[str, str],
        parameters: Mapping[str, str],
        protocols: list[str] | None = None,
        method: str = "GET",
    ) -> "Client":
        scope = {
            "type": kind,
            "method": method,
            "path": path,
            "query_string": urlencode(parameters).encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "subprotocols": protocols or [],
        }
        self._clients.append(Client(self, scope))
        return self._clients[-1]


class Client:
    """One connection. `sent`: what the application sent."""

    def __init__(self, site: Site, scope: dict[str, Any]) -> None:
        self._site = site
        self.sent: list[Mapping[str, Any]] = []
        self._given: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self._reads = asyncio.Event()
        self._reads.set()
        call = site.application(scope, self._given.get, self._take)
        self._future = asyncio.run_coroutine_threadsafe(call, site.loop)

    @property
    def status(self) -> int:
        return int(next(each["status"] for each in self.sent if "status" in each))

    @property
    def headers(self) -> dict[str, str]:
        start = next(each for each in self.sent if "headers" in each)
        return {name.decode(): value.decode() for name, value in start["headers"]}

    @property
    def text(self) -> str:
        """All bodies, or all messages of a WebSocket in lines."""
        bodies = b"".join(each.get("body", b"") for each in self.sent)
        return bodies.decode() or "\n".join(each["text"] for each in self.sent if "text" in each)

    @property
    def has_ended(self) -> bool:
        return self._future.done()

    @property
    def heard(self) -> list[Heard]:
        if any(each["type"] == "websocket.accept" for each in self.sent):
            return [_read_socket(each["text"]) for each in self.sent if "text" in each]
        blocks = (_read_block(block) for block in self.text.split("\n\n"))
        return [Heard(b["event"], b["data"], b.get("id", "")) for b in blocks if "event" in b]

    @property
    def last_id(self) -> str:
        """As a browser keeps it."""
        ids = [b["id"] for b in map(_read_block, self.text.split("\n\n")) if "id" in b]
        return ids[-1]

    def give(self, event: Mapping[str, Any]) -> None:
        self._site.loop.call_soon_threadsafe(self._given.put_nowait, event)

    def say(self, **message: str) -> None:
        """Over a WebSocket."""
        self.give({"type": "websocket.receive", "text": json.dumps(message)})

    def leave(self) -> None:
        for kind in ("http.disconnect", "websocket.disconnect"):
            self.give({"type": kind})
        self._future.result(_RECEIVE_S)

    def stop_reading(self) -> None:
        self._site.loop.call_soon_threadsafe(self._reads.clear)

    def await_sent(self, *kinds: str) -> None:
        until(lambda: any(each["type"] in kinds for each in self.sent) or self._failure())

    def hear(self, *events: str) -> list[Heard]:
        """Waits until the client has heard as many messages. They must be these, in this order."""
        until(lambda: len(self.heard) >= len(events), said=lambda: self.text)
        assert [heard.event for heard in self.heard] == list(events)
        return self.heard

    async def _take(self, event: Mapping[str, Any]) -> None:
        await self._reads.wait()
        self.sent.append(event)

    def _failure(self) -> bool:
        """Raises the error of the application."""
        if self._future.done():
            self._future.result()
        return False


def publish_marker(site: Site, author_id: int, *clients: Client) -> str:
    """Each of the clients, who follow the author or are the author, gets a new post: before
    that they have heard all that they hear of what was done until now. Returns the post's id."""
    marker = publish(author_id, "marker").public
    deliver_all()
    for client in clients:
        until(lambda c=client: marker in {h.post_id for h in c.heard}, said=lambda c=client: c.text)
    return marker


def events_before(client: Client, marker: str) -> list[tuple[str, str]]:
    """What a client heard before it heard of this post: event and post."""
    told = [(heard.event, heard.post_id) for heard in client.heard]
    return told[: [post_id for _, post_id in told].index(marker)]


@contextmanager
def streaming_site(most: int = 1_000) -> Iterator[Site]:
    site = Site(most)
    try:
        yield site
    finally:
        site.stop()


def _read_block(block: str) -> dict[str, str]:
    """Some clients take an event by its first line, and so the id is in the last one."""
    lines = (line.partition(": ") for line in block.split("\n") if not line.startswith(":"))
    fields = {name: value for name, _, value in lines if name}
    assert "id" not in fields or [*fields][-1] == "id", block
    return fields


def _read_socket(text: str) -> Heard:
    entity = json.loads(text)
    if "error" in entity:
        return Heard("error", text, "")
    return Heard(entity["event"], entity.get("payload", ""), entity["id"], entity["stream"])
