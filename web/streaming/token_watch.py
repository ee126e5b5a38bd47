"""Ends the streams of tokens that do not hold any more: revoked, expired, of a suspended user."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence

import structlog
from django.db import connections
from redis import RedisError

from accounts.queries.held_tokens import HeldTokens
from infra.sharding.connection_health import drop_broken_connections, give_back_connections
from infra.sharding.errors import NO_ANSWER
from web.streaming.subscriber import TOKEN_ENDED, Subscriber, end_each

# A revoked token ends its streams within twice this time.
EVERY_S = 0.4
log = structlog.get_logger()


class TokenWatch:
    """`all_open`: gives all connections, also those that listen to nothing yet."""

    def __init__(
        self, all_open: Callable[[], Sequence[Subscriber]], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._all_open, self._loop = all_open, loop
        self._tokens = HeldTokens()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tokens", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(EVERY_S):
            if not self._all_open():
                continue
            drop_broken_connections()
            try:
                self._look()
            except (*NO_ANSWER, RedisError) as error:
                # As a request with the token: while it cannot be asked for, it holds.
                log.warning("streaming.tokens_not_asked", error=str(error))
            give_back_connections()
        connections.close_all()

    def _look(self) -> None:
        by_token = self._connections_by_token()
        ended = self._tokens.find_ended(list(by_token))
        subscribers = [s for token in ended for s in by_token[token]]
        if subscribers:
            self._loop.call_soon_threadsafe(end_each, subscribers, TOKEN_ENDED)
        self._tokens.bring_back()

    def _connections_by_token(self) -> Mapping[str, list[Subscriber]]:
        by_token: dict[str, list[Subscriber]] = {}
        for subscriber in self._all_open():
            by_token.setdefault(subscriber.token_checksum, []).append(subscriber)
        return by_token
