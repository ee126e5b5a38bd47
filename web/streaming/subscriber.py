"""One open connection: its channels, and the messages that wait to be sent."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable, Sequence

from accounts.types import Viewer
from web.streaming.channels import NOTIFIED, NOTIFIED_SCOPE, Channel
from web.streaming.messages import Message

# What a client may be behind. One that reads slower is closed, and comes back with its position.
MOST_WAITING, MOST_WAITING_BYTES = 500, 512 * 1024
# Why a connection ends.
SLOW, TOKEN_ENDED, STORE_AWAY, DRAINED = "slow", "token_ended", "store_away", "drained"
CLIENT_LEFT, FAILED, FEED_GONE = "client_left", "failed", "feed_gone"


class Subscriber:
    """The event loop sends. Other threads call only through the loop, but for `channels`, which the
    directory's lock guards.

    `is_replaying`: messages wait until the older ones are in the queue. `is_gone`: the directory
    has removed it. `knows_positions`: it may get one without a message.
    """

    def __init__(self, viewer: Viewer, token_checksum: str, is_socket: bool) -> None:
        self.viewer, self.token_checksum, self.is_socket = viewer, token_checksum, is_socket
        self.account_id: int = viewer.account_id or 0
        self.channels: set[Channel] = set()
        self.is_replaying = self.is_gone = self.knows_positions = False
        self.was_idle = True
        self._queue: deque[bytes] = deque()
        self._size_bytes = 0
        self._held: list[Message] = []
        self._reason = ""
        self._wake = asyncio.Event()
        self._has_ended = asyncio.Event()

    @property
    def owner(self) -> tuple[int | None, int]:
        """Whose connection it is: the account, or the application if its token has none."""
        account_id = self.viewer.account_id
        return account_id, 0 if account_id is not None else self.viewer.application_id

    @property
    def is_notified(self) -> bool:
        """Whether it gets notifications. Under the directory's lock."""
        may_hear = NOTIFIED_SCOPE in self.viewer.scopes
        return may_hear and any(channel.name in NOTIFIED for channel in self.channels)

    def offer(self, messages: Sequence[Message]) -> None:
        if self.is_replaying:
            self._held += messages
            if len(self._held) > MOST_WAITING:
                self.end(SLOW)
            return
        for message in messages:
            self.put(message.socket if self.is_socket else message.sse)

    def finish_replay(self, messages: Sequence[Message]) -> None:
        """The older messages, then those that came in between."""
        self.is_replaying = False
        held, self._held = self._held, []
        self.offer([*messages, *held])

    def put(self, text: bytes) -> None:
        """After the end nothing more is sent: it would move the client's position past a message
        that is missing."""
        if self._has_ended.is_set():
            return
        self._queue.append(text)
        self._size_bytes += len(text)
        if len(self._queue) > MOST_WAITING or self._size_bytes > MOST_WAITING_BYTES:
            self.end(SLOW)
        self.was_idle = False
        self._wake.set()

    def end(self, reason: str) -> None:
        """What waits is not sent: the client's position is before it."""
        self._reason = self._reason or reason
        self._has_ended.set()

    async def wait_for_end(self) -> str:
        """The reason."""
        await self._has_ended.wait()
        return self._reason

    async def take(self) -> list[bytes]:
        """The next messages, at least one."""
        while not self._queue:
            self._wake.clear()
            await self._wake.wait()
        texts = list(self._queue)
        self._queue.clear()
        self._size_bytes = 0
        return texts


def end_each(subscribers: Iterable[Subscriber], reason: str) -> None:
    """In the event loop."""
    for subscriber in subscribers:
        subscriber.end(reason)


async def first_of(
    sending: Coroutine[object, object, None],
    listening: Coroutine[object, object, None],
    subscriber: Subscriber,
) -> str:
    """Runs both until the client leaves, or the connection is to end. Returns why.

    A client that does not read keeps `sending` waiting, so it is cancelled.
    """
    ending = asyncio.ensure_future(subscriber.wait_for_end())
    tasks = [asyncio.ensure_future(sending), asyncio.ensure_future(listening), ending]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return ending.result() if ending.done() else CLIENT_LEFT
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
