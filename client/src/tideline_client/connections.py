"""Sends calls over HTTP: one class that blocks, and one for `async`.

Everything that decides is in `tries`, `answers` and `pages`, which both classes share.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import anyio
import httpx
import msgspec

from tideline_client.answers import read_answer
from tideline_client.breaker import Breaker
from tideline_client.calls import Call
from tideline_client.errors import DeadlineExceeded, TidelineError, Unreachable
from tideline_client.pages import AsyncPages, PageReader, Pages
from tideline_client.tries import Patience, RemainingTime, Tries
from tideline_client.version import VERSION

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls where. `token`: None for what is public. `account_id`: the account that a service
    acts for; None: itself. Traces and error reports show objects: the token is not in its text."""

    url: str
    token: str | None = field(repr=False)
    patience: Patience
    account_id: str | None = None

    def headers(self) -> dict[str, str]:
        """Of every request."""
        sent = {"Accept": "application/json", "User-Agent": f"tideline-client/{VERSION}"}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if self.account_id is not None:
            sent["Tideline-Account"] = self.account_id
        return sent


def request_of(caller: Caller, call: Call[Any], tries: Tries) -> dict[str, Any]:
    """The next request of a call, as arguments of httpx. Raises: DeadlineExceeded."""
    request: dict[str, Any] = {
        "method": call.method,
        "url": f"{caller.url}{call.path}",
        "params": call.query,
        "headers": {**caller.headers(), **call.headers, **tries.headers()},
        "follow_redirects": False,
        "extensions": {"timeout": RemainingTime(tries)},
    }
    if call.files:
        request |= {"data": call.body, "files": {k: (k, v) for k, v in call.files.items()}}
    elif call.body is not None:
        request["headers"]["Content-Type"] = "application/json"
        request["content"] = msgspec.json.encode(call.body)
    return request


def failure_of(error: httpx.HTTPError, tries: Tries) -> TidelineError:
    """A time-out that used up the call is its deadline; else there was no answer."""
    text = f"Tideline did not answer: {error or type(error).__name__}"
    try:
        tries.remaining_s()
    except DeadlineExceeded as over:
        return over
    return Unreachable(text, tries.request_id)


@dataclass(frozen=True, slots=True)
class Connection:
    """Calls of one caller over a shared `httpx.Client`."""

    http: httpx.Client
    caller: Caller
    breaker: Breaker = field(default_factory=Breaker)

    def send(self, call: Call[T]) -> T:
        """Raises: TidelineError."""
        return self.ask(call)[0]

    def ask(self, call: Call[T]) -> tuple[T, Mapping[str, str]]:
        """The answer with its headers. Raises: TidelineError."""
        tries = Tries(self.caller.patience, call.is_repeatable)
        while True:
            try:
                with self.breaker.watching(tries.request_id):
                    return self._try(call, tries)
            except TidelineError as error:
                time.sleep(tries.pause_after(error))

    def pages(self, reader: PageReader[T]) -> Pages[T]:
        return Pages(self.ask, reader)

    def with_caller(self, **changes: Any) -> Self:
        breaker = Breaker() if "url" in changes else self.breaker
        return replace(self, caller=replace(self.caller, **changes), breaker=breaker)

    def _try(self, call: Call[T], tries: Tries) -> tuple[T, Mapping[str, str]]:
        chunks = []
        try:
            with self.http.stream(**request_of(self.caller, call, tries)) as answer:
                for chunk in answer.iter_bytes():
                    tries.remaining_s()
                    chunks.append(chunk)
        except httpx.HTTPError as error:
            raise failure_of(error, tries) from error
        content, headers = b"".join(chunks), answer.headers
        value = read_answer(call, answer.status_code, headers, content, tries.request_id)
        return value, headers


@dataclass(frozen=True, slots=True)
class AsyncConnection:
    """Calls of one caller over a shared `httpx.AsyncClient`."""

    http: httpx.AsyncClient
    caller: Caller
    breaker: Breaker = field(default_factory=Breaker)

    async def send(self, call: Call[T]) -> T:
        """Raises: TidelineError."""
        return (await self.ask(call))[0]

    async def ask(self, call: Call[T]) -> tuple[T, Mapping[str, str]]:
        """The answer with its headers. Raises: TidelineError."""
        tries = Tries(self.caller.patience, call.is_repeatable)
        while True:
            try:
                with self.breaker.watching(tries.request_id):
                    return await self._try(call, tries)
            except TidelineError as error:
                await anyio.sleep(tries.pause_after(error))

    def pages(self, reader: PageReader[T]) -> AsyncPages[T]:
        return AsyncPages(self.ask, reader)

    def with_caller(self, **changes: Any) -> Self:
        breaker = Breaker() if "url" in changes else self.breaker
        return replace(self, caller=replace(self.caller, **changes), breaker=breaker)

    async def _try(self, call: Call[T], tries: Tries) -> tuple[T, Mapping[str, str]]:
        request = request_of(self.caller, call, tries)
        try:
            with anyio.fail_after(tries.remaining_s()):
                answer = await self.http.request(**request)
        except TimeoutError as error:
            text = "the deadline of this call is over"
            raise DeadlineExceeded(text, tries.request_id) from error
        except httpx.HTTPError as error:
            raise failure_of(error, tries) from error
        value = read_answer(
            call, answer.status_code, answer.headers, answer.content, tries.request_id
        )
        return value, answer.headers
