"""The two doors of the package: `Tideline`, and `AsyncTideline` for async code."""

from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

from tideline_client.awaiting import (
    AsyncAccountCalls,
    AsyncObjectsCalls,
    AsyncPostTypesCalls,
    AsyncReactionsCalls,
)
from tideline_client.blocking import (
    AccountCalls,
    ObjectsCalls,
    PostTypesCalls,
    ReactionsCalls,
)
from tideline_client.connections import AsyncConnection, Caller, Connection
from tideline_client.listening import AsyncStreamsCalls, StreamsCalls
from tideline_client.services import (
    AsyncEventsCalls,
    AsyncProvisioningCalls,
    AsyncRelationsCalls,
    EventsCalls,
    ProvisioningCalls,
    RelationsCalls,
)
from tideline_client.tries import Patience

DEADLINE_MS, RETRIES = 10_000, 2


def _caller(url: str, token: str | None, patience: Patience) -> Caller:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"{url!r} is no address of Tideline, such as https://feed.example.org")
    return Caller(url.rstrip("/"), token, patience)


class Tideline(AccountCalls):
    """One Tideline, for a token of a service or of a person. It may be used by several threads.

    `deadline_ms`: how long one call may take, with all its tries. Tideline learns it, too.
    `retries`: further tries of a read, or of a write that can be repeated, after 429, 502, 503, 504
    and broken connections.
    `http`: a client of your own, for a proxy or certificates. You close it.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        deadline_ms: int = DEADLINE_MS,
        retries: int = RETRIES,
        http: httpx.Client | None = None,
    ) -> None:
        caller = _caller(url, token, Patience(deadline_ms, retries))
        self._owns_http = http is None
        self._connect(Connection(http or httpx.Client(), caller))

    def _connect(self, connection: Connection) -> None:
        super().__init__(connection)
        self.provisioning = ProvisioningCalls(connection)
        self.objects = ObjectsCalls(connection)
        self.relations = RelationsCalls(connection)
        self.post_types = PostTypesCalls(connection)
        self.reactions = ReactionsCalls(connection)
        self.events = EventsCalls(connection)
        self.streams = StreamsCalls(connection)

    def acting_for(self, account_id: str) -> AccountCalls:
        """The same service as one account. Its answers are those that the account itself gets.

        Cost: no call. Keep the account ids that provisioning gives you.
        """
        return AccountCalls(self._connection.with_caller(account_id=str(account_id)))

    def acting_for_external_id(self, external_id: str) -> AccountCalls:
        """As `acting_for`, by the id that your product has for the person. Cost: a call.

        Raises: NotFound.
        """
        return self.acting_for(self.provisioning.get(external_id).account_id)

    def with_patience(self, *, deadline_ms: int, retries: int = RETRIES) -> "Tideline":
        """The same connections, for calls that may take longer, or must be quicker."""
        other = Tideline.__new__(Tideline)
        other._owns_http = False
        other._connect(self._connection.with_caller(patience=Patience(deadline_ms, retries)))
        return other

    def close(self) -> None:
        if self._owns_http:
            self._connection.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncTideline(AsyncAccountCalls):
    """As `Tideline`, for async code."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        deadline_ms: int = DEADLINE_MS,
        retries: int = RETRIES,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        caller = _caller(url, token, Patience(deadline_ms, retries))
        self._owns_http = http is None
        self._connect(AsyncConnection(http or httpx.AsyncClient(), caller))

    def _connect(self, connection: AsyncConnection) -> None:
        super().__init__(connection)
        self.provisioning = AsyncProvisioningCalls(connection)
        self.objects = AsyncObjectsCalls(connection)
        self.relations = AsyncRelationsCalls(connection)
        self.post_types = AsyncPostTypesCalls(connection)
        self.reactions = AsyncReactionsCalls(connection)
        self.events = AsyncEventsCalls(connection)
        self.streams = AsyncStreamsCalls(connection)

    def acting_for(self, account_id: str) -> AsyncAccountCalls:
        """The same service as one account. Cost: no call."""
        return AsyncAccountCalls(self._connection.with_caller(account_id=str(account_id)))

    async def acting_for_external_id(self, external_id: str) -> AsyncAccountCalls:
        """As `acting_for`, by the id that your product has. Cost: a call. Raises: NotFound."""
        return self.acting_for((await self.provisioning.get(external_id)).account_id)

    def with_patience(self, *, deadline_ms: int, retries: int = RETRIES) -> "AsyncTideline":
        """The same connections, for calls that may take longer, or must be quicker."""
        other = AsyncTideline.__new__(AsyncTideline)
        other._owns_http = False
        other._connect(self._connection.with_caller(patience=Patience(deadline_ms, retries)))
        return other

    async def close(self) -> None:
        if self._owns_http:
            await self._connection.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
