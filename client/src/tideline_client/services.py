"""What takes several calls: accounts and relations in batches, and following what happens."""

import time
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import anyio

from tideline_client import awaiting, blocking
from tideline_client.errors import TidelineError
from tideline_client.models import (
    BoundAccount,
    Events,
    PairField,
    ProvisioningOutcome,
    Relation,
    WantedAccountField,
)
from tideline_client.waiting import (
    BETWEEN_READS_S,
    PATIENCE,
    Pauses,
    StreamingProcess,
    streaming_url,
    waiting_call,
)

MOST_PAIRS = 1_000
MOST_WANTED = 100
MOST_IDS = 1_000
T = TypeVar("T")


def _batches(items: Iterable[T], most: int) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, most)):
        yield batch


def _batches_of_pairs(pairs: Iterable[tuple[str, str]]) -> Iterator[list[PairField]]:
    fields: Iterable[PairField] = (
        {"account_id": str(account_id), "target_id": str(target_id)}
        for account_id, target_id in pairs
    )
    return _batches(fields, MOST_PAIRS)


def _batches_of_ids(
    external_ids: Iterable[str] | None, account_ids: Iterable[str] | None
) -> Iterator[dict[str, list[str]]]:
    """Raises: ValueError, unless one of the two is given."""
    if (external_ids is None) == (account_ids is None):
        raise ValueError("find() needs external_ids or account_ids")
    for batch in _batches(external_ids or (), MOST_IDS):
        yield {"external_ids": batch}
    for batch in _batches(account_ids or (), MOST_IDS):
        yield {"account_ids": [*map(str, batch)]}


class ProvisioningCalls(blocking.ProvisioningCalls):
    """Accounts by the ids of your product, any number of them."""

    def put_many(self, accounts: Iterable[WantedAccountField]) -> list[ProvisioningOutcome]:
        """Accounts, each as by `put`. One answer each, in the order given.

        Cost: a call for each 100. An error leaves those before it done: give all of them again.
        """
        outcomes: list[ProvisioningOutcome] = []
        for batch in _batches(accounts, MOST_WANTED):
            outcomes += super().put_many(batch)
        return outcomes

    def find(
        self,
        *,
        external_ids: Iterable[str] | None = None,
        account_ids: Iterable[str] | None = None,
    ) -> list[BoundAccount]:
        """The accounts of external ids, or the external ids of accounts. Others are left out.

        Cost: a call for each 1,000.
        """
        accounts: list[BoundAccount] = []
        for batch in _batches_of_ids(external_ids, account_ids):
            accounts += super().find(**batch)
        return accounts


class AsyncProvisioningCalls(awaiting.AsyncProvisioningCalls):
    """Accounts by the ids of your product, any number of them."""

    async def put_many(self, accounts: Iterable[WantedAccountField]) -> list[ProvisioningOutcome]:
        """As `ProvisioningCalls.put_many`."""
        outcomes: list[ProvisioningOutcome] = []
        for batch in _batches(accounts, MOST_WANTED):
            outcomes += await super().put_many(batch)
        return outcomes

    async def find(
        self,
        *,
        external_ids: Iterable[str] | None = None,
        account_ids: Iterable[str] | None = None,
    ) -> list[BoundAccount]:
        """As `ProvisioningCalls.find`."""
        accounts: list[BoundAccount] = []
        for batch in _batches_of_ids(external_ids, account_ids):
            accounts += await super().find(**batch)
        return accounts


class RelationsCalls(blocking.RelationsCalls):
    """Relations of any accounts."""

    def of_many_pairs(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relation]:
        """What the first account of each pair does to the second one, in the order of the pairs.

        Cost: a call for each 1,000 pairs.
        """
        for batch in _batches_of_pairs(pairs):
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
        for batch in _batches_of_pairs(pairs):
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
            except TidelineError as error:
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
            except TidelineError as error:
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
