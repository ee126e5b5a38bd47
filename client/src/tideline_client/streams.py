"""Streams of one account or of the public: server-sent events, resumed where they broke off.

Tideline sends something every 15 seconds, so a stream that is silent for longer is dead.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import httpx
import msgspec

from tideline_client.answers import read_answer
from tideline_client.calls import Call, query_of
from tideline_client.connections import Caller
from tideline_client.errors import TidelineError, UnexpectedAnswer, Unreachable
from tideline_client.tries import LONGEST_CONNECT_S
from tideline_client.waiting import Pauses

T = TypeVar("T")
Stream = Literal["user", "user/notification", "public", "public/media", "hashtag", "list", "direct"]
SILENCE_S = 45.0
TIMEOUTS = {"connect": LONGEST_CONNECT_S, "read": SILENCE_S, "write": SILENCE_S, "pool": SILENCE_S}
# A post has a hundred kilobytes at most.
MOST_BYTES = 4_000_000


class StreamEvent(msgspec.Struct, frozen=True):
    """`event`: `update`, `delete`, `status.update`, `notification` …; `resume` after a pause: with
    `{"outcome": "reload"}` read the timelines again. `data`: JSON, or the id of what was deleted.
    `id`: store it to go on from here in another process."""

    event: str
    data: str
    id: str

    def read_as(self, kind: type[T]) -> T:
        """The data as `models.Status` or what the event has. Raises: UnexpectedAnswer."""
        try:
            return msgspec.json.decode(self.data, type=kind)
        except msgspec.DecodeError as error:
            raise UnexpectedAnswer(f"the data of {self.event!r} is other: {error}") from error


class EventParser:
    """Reads the format of the HTML standard. Only CR and LF end a line: JSON may have more."""

    def __init__(self) -> None:
        self._rest, self._fields = b"", dict[str, str]()

    def feed(self, chunk: bytes) -> Iterator[dict[str, str]]:
        """The fields of each block that is whole now. Raises: UnexpectedAnswer."""
        lines = (self._rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MOST_BYTES:
            raise UnexpectedAnswer("a message of the stream is too long")
        for line in lines:
            if not line and self._fields:
                yield self._fields
                self._fields = {}
            name, _, value = line.decode(errors="replace").partition(":")
            if name:
                is_more = name == "data" and name in self._fields
                before = f"{self._fields[name]}\n" if is_more else ""
                self._fields[name] = before + value.removeprefix(" ")


class Following:
    """One stream over all its connections: where it is, and how long to wait for the next one."""

    def __init__(self, name: Stream, last_id: str, **parameters: str | None) -> None:
        self._path = f"/api/v1/streaming/{name}"
        self._query, self._last_id = query_of(parameters), last_id
        self._parser, self._pauses = EventParser(), Pauses()
        self.url = ""

    def request(self, caller: Caller) -> dict[str, Any]:
        """The next connection, as arguments of httpx."""
        self._parser = EventParser()
        headers = caller.headers() | {"Accept": "text/event-stream"}
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        return {
            "method": "GET",
            "url": f"{self.url}{self._path}",
            "params": self._query,
            "headers": headers,
            "extensions": {"timeout": TIMEOUTS},
        }

    def read(self, chunk: bytes) -> Iterator[StreamEvent]:
        """The events that are whole now. A block without one only moves the position."""
        for fields in self._parser.feed(chunk):
            self._pauses.reset()
            self._last_id = fields.get("id", self._last_id)
            if "event" in fields:
                yield StreamEvent(fields["event"], fields.get("data", ""), self._last_id)

    def refuse(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        """Of an answer that `is_stream` does not accept. Raises: TidelineError."""
        read_answer(Call("GET", self._path, type(None)), status, headers, content, "")
        raise UnexpectedAnswer(f"{self._path} is no stream: is the address of Tideline right?")

    def pause_after(self, error: TidelineError) -> float:
        """Raises: the error, if it does not get better by itself."""
        self.url = ""
        return self._pauses.after(error)


def is_stream(status: int, headers: Mapping[str, str]) -> bool:
    return status == 200 and headers.get("content-type", "").startswith("text/event-stream")


def ended() -> Unreachable:
    """Streams have no end of their own: the process stopped, or a proxy."""
    return Unreachable("Tideline ended the stream")


@contextmanager
def broken_connections() -> Iterator[None]:
    """Raises: Unreachable for what httpx raises."""
    try:
        yield
    except httpx.HTTPError as error:
        raise Unreachable(f"the stream broke off: {error or type(error).__name__}") from error
