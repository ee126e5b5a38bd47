"""What a service does with several calls: relations in batches, and following what happens."""

import time
from collections.abc import AsyncIterator, Iterable, Iterator

import anyio

from tideline_client import awaiting, blocking
from tideline_client.errors import DeadlineExceeded, Postponed, TidelineError, Unreachable
from tideline_client.models import Events, PairField, Relation
from tideline_client.waiting import (
    BETWEEN_READS_S,
    PATIENCE,
    Pauses,
    StreamingProcess,
    streaming_url,
    waiting_call,
)

MOST_PAIRS = 1_000
AWAY = (DeadlineExceeded, Postponed, Unreachable)


def _batches(pairs: Iterable[tuple[str, str]]) -> Iterator[list[PairField]]:
    batch: list[PairField] = []
    for account_id, target_id in pairs:
        batch.append({"account_id": str(account_id), "target_id": str(target_id)})
        if len(batch) == MOST_PAIRS:
            yield batch
            batch = []
    if batch:
        yield batch


class RelationsCalls(blocking.RelationsCalls):
    """Relations of any accounts."""

    def of_many_pairs(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relation]:
        """What the first account of each pair does to the second one, in the order of the pairs.

        Cost: a call for each 1,000 pairs.
        """
        for batch in _batches(pairs):
            yield from self.of_pairs(batch)

    def followers_among(self, account_id: str, candidates: Iterable[str]) -> set[str]:
        """Those of the candidates that follow the account."""
        pairs = ((each, account_id) for each in candidates)
        return {each.account_id for each in self.of_many_pairs(pairs) if each.following}

    def followed_among(self, account_id: str, candidates: Iterable[str]) -> set[str]:
        """Those of the candidates that the account follows."""
        pairs = ((account_id, each) for each in candidates)
        return {each.target_id for each in self.of_many_pairs(pairs) if each.following}


class AsyncRelationsCalls(awaiting.AsyncRelationsCalls):
    """Relations of any accounts."""

    async def of_many_pairs(self, pairs: Iterable[tuple[str, str]]) -> AsyncIterator[Relation]:
        """As `RelationsCalls.of_many_pairs`."""
        for batch in _batches(pairs):
            for relation in await self.of_pairs(batch):
                yield relation

    async def followers_among(self, account_id: str, candidates: Iterable[str]) -> set[str]:
        """Those of the candidates that follow the account."""
        pairs = ((each, account_id) for each in candidates)
        return {each.account_id async for each in self.of_many_pairs(pairs) if each.following}

    async def followed_among(self, account_id: str, candidates: Iterable[str]) -> set[str]:
        """Those of the candidates that the account follows."""
        pairs = ((account_id, each) for each in candidates)
        return {each.target_id async for each in self.of_many_pairs(pairs) if each.following}


class EventsCalls(blocking.EventsCalls):
    """What happens on the whole site."""

    def follow(self, after: str) -> Iterator[Events]:
        """Pages of events behind a position, for ever: handle the events, then store `position`.

        `after`: the position that was stored last; `oldest`; or that of `events.read()`: now.
        A page may have no events: store its position all the same, so that it does not grow too
        old. While Tideline is away this goes on trying. Every event comes at least once.

        Raises: PositionGone, NotAllowed, TokenRefused.
        """
        pauses, streaming = Pauses(), StreamingProcess()
        while True:
            try:
                page = self.read(after=after)
                if not page.events and not page.has_more:
                    page = self._wait(streaming, page.position)
            except AWAY as error:
                time.sleep(pauses.after(error))
                continue
            pauses.reset()
            yield page
            after = page.position

    def _wait(self, streaming: StreamingProcess, after: str) -> Events:
        """The next page as soon as it has events. Without the streaming process: in a second."""
        if streaming.may_be_asked():
            try:
                site = blocking.SiteCalls(self._connection)
                streaming.url = streaming.url or streaming_url(site.get())
                process = self._connection.with_caller(url=streaming.url, patience=PATIENCE)
                return process.send(waiting_call(after))
            except TidelineError:
                streaming.was_away()
        time.sleep(BETWEEN_READS_S)
        return self.read(after=after)


class AsyncEventsCalls(awaiting.AsyncEventsCalls):
    """What happens on the whole site."""

    async def follow(self, after: str) -> AsyncIterator[Events]:
        """As `EventsCalls.follow`."""
        pauses, streaming = Pauses(), StreamingProcess()
        while True:
            try:
                page = await self.read(after=after)
                if not page.events and not page.has_more:
                    page = await self._wait(streaming, page.position)
            except AWAY as error:
                await anyio.sleep(pauses.after(error))
                continue
            pauses.reset()
            yield page
            after = page.position

    async def _wait(self, streaming: StreamingProcess, after: str) -> Events:
        if streaming.may_be_asked():
            try:
                site = awaiting.AsyncSiteCalls(self._connection)
                streaming.url = streaming.url or streaming_url(await site.get())
                process = self._connection.with_caller(url=streaming.url, patience=PATIENCE)
                return await process.send(waiting_call(after))
            except TidelineError:
                streaming.was_away()
        await anyio.sleep(BETWEEN_READS_S)
        return await self.read(after=after)
