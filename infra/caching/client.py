"""A thin Redis client: commands in, replies out, one round trip for any number of commands.

Each thread has its own connection, so there is no pool to check out of. Timeouts are short, and a
circuit breaker opens after a failure: a dead or hung Redis costs a request one timeout at most.
What must reach Redis after a commit is kept by `send`, and sent before the breaker closes again.
"""

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain, islice, repeat
from typing import Any

import structlog
from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ReadOnlyError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from infra.caching.breaker import Breaker
from infra.caching.client_protocol import Client
from infra.caching.cluster import ClusterClient
from infra.caching.cluster_nodes import connect_cluster
from infra.caching.connection import Command as Command
from infra.caching.decoding import is_unusable, keys_of, report_undecodable
from infra.caching.errors import REDIS_AWAY
from infra.caching.scripts import with_body
from infra.caching.single import SingleClient
from infra.caching.unsent import Call, UnsentCalls
from infra.confirmations import run_confirming
from infra.evidence import note_replies
from infra.read_limits import UNREAD_AFTER_S
from infra.shared_thread import is_in_shared_thread, need_own_thread, share_exchange

# A write waits for Redis so long after the breaker opened, and then only if Redis answers again. If
# Redis refuses writes, no process reads from it any more by then.
SHORT_OUTAGE_S = UNREAD_AFTER_S
# Longer than a pause between two attempts of the breaker's thread.
SENT_WITHIN_S = 0.2
log = structlog.get_logger()


class FeedRedis:
    """The client that the apps use: single calls, batches, scripts that reload themselves."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._unsent = UnsentCalls(client.fails_in_part)
        self._breaker = Breaker(self._recover, self._go_on, client.pauses)
        # Unix time; None while Redis does not answer, and when all go on.
        self._back_since_s: float | None = None
        self.keys_per_script = client.keys_per_script
        self.reads_keys_together = client.reads_keys_together
        self.open_connection = client.open_connection

    def call(self, *command: Any) -> Any:
        """One command, one round trip. Raises RedisError."""
        return self.run([command])[0]

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Any number of commands in one round trip. Raises the first error reply, after all ran.

        A script that the server does not know is sent again with its text, after the others ran.
        An entry that Redis or a script cannot use is deleted, and its command runs again.
        """
        if not commands:
            return []
        replies = run_confirming(self._run, commands)
        note_replies(commands, replies)
        return replies

    def _run(self, commands: Sequence[Command]) -> list[Any]:
        return self._complete(commands, self._exchange(commands))

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """Like `run`, but a few commands at a time, so that Redis serves other clients in between.

        Each command is taken from `commands` just before it is sent. Cost: a round trip for every
        second command.
        """
        need_own_thread()
        remaining, sent = iter(commands), list[Command]()
        first = list(islice(remaining, 1))
        if not first:
            return []
        self._breaker.check()
        with self._tripping():
            replies = self._client.run_windowed(_record(chain(first, remaining), sent))
        return self._complete(sent, replies)

    def check_accepts(self) -> None:
        """Raises RedisError if Redis does not accept a write now. Cost: one round trip."""
        self._breaker.check()
        with self._tripping():
            self._client.check_accepts()

    def send(self, run: Callable[..., object], *where: Hashable, items: Sequence[Any]) -> None:
        """Calls `run(*where, items)`, which brings Redis up to date after a commit.

        If Redis is away, it is called again when Redis answers, before this process uses Redis for
        anything else. Equal calls are then made as one. So `run` must be safe to call twice and
        late, and must be the same object each time. Raises what `run` raises for other reasons.
        It returns when Redis has the call, because another process could read what is to be
        removed; but it does not wait for a Redis that has been away for longer.
        """
        try:
            run(*where, items)
        except REDIS_AWAY as error:
            log.warning("redis.call_kept", call=run.__name__, error=str(error))
            self.send_later(run, *where, items=items)

    def send_later(
        self, run: Callable[..., object], *where: Hashable, items: Sequence[Any]
    ) -> None:
        """`send` for a call that has failed already."""
        self._unsent.keep(Call(run, where), items)
        self._breaker.open()
        if not self._breaker.is_own_thread() and not is_in_shared_thread():
            self._unsent.wait_until_tried(self._most_wait_s())

    def run_before_next_use(self, run: Callable[[Sequence[None]], object]) -> None:
        """Calls `run` before this process uses Redis again. Does not wait for that.

        Calls of the same `run` are made as one.
        """
        if self._unsent.keep(Call(run, ()), ()):
            self._breaker.open()

    def _most_wait_s(self) -> float:
        """For calls that are kept. None for a Redis that has been away for a while."""
        if self._back_since_s is not None:
            return SENT_WITHIN_S
        return max(0.0, self._breaker.opened_at + SHORT_OUTAGE_S - time.monotonic())

    def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        if is_in_shared_thread():
            return share_exchange(self._exchange_now, commands)
        return self._exchange_now(commands)

    def _exchange_now(self, commands: Sequence[Command]) -> list[Any]:
        self._breaker.check()
        with self._tripping():
            return self._client.run(commands)

    @contextmanager
    def _tripping(self) -> Iterator[None]:
        try:
            yield
        except (RedisConnectionError, RedisTimeoutError):
            self._breaker.trip()
            raise

    def _recover(self) -> bool:
        """One attempt of the breaker's thread."""
        before, self._back_since_s = self._back_since_s, None
        self._client.check_accepts()
        self._back_since_s = back_since_s = before or time.time()
        if _recovery_checks:  # they take a moment, and other processes wait for what is kept
            self._unsent.send(self._client.clear)
        may_go_on = all(is_ready(back_since_s) for is_ready in _recovery_checks)
        return self._unsent.send(self._client.clear) and may_go_on

    def _go_on(self) -> bool:
        """Whether no call is kept any more. Then all calls go on."""
        if not self._unsent.is_empty:
            return False
        self._back_since_s = None
        return True

    def _complete(self, commands: Sequence[Command], replies: list[Any]) -> list[Any]:
        if not any(map(isinstance, replies, repeat(RedisError))):
            return replies
        failed = [n for n, reply in enumerate(replies) if isinstance(reply, RedisError)]
        unknown = [n for n in failed if isinstance(replies[n], NoScriptError)]
        if unknown:
            self._rerun_with_body(commands, replies, unknown)
        unusable = [n for n in failed if is_unusable(replies[n])]
        if unusable:
            self._rerun_without_entries(commands, replies, unusable)
        for n in failed:
            if isinstance(replies[n], ReadOnlyError):  # a replica now: its data may be old
                self._client.disconnect()
            if isinstance(replies[n], RedisConnectionError):
                self._breaker.trip()
            if isinstance(replies[n], RedisError):
                raise replies[n]
        return replies

    def _rerun_with_body(
        self, commands: Sequence[Command], replies: list[Any], unknown: Sequence[int]
    ) -> None:
        again = self._exchange([with_body(commands[n]) for n in unknown])
        for n, reply in zip(unknown, again, strict=True):
            replies[n] = reply

    def _rerun_without_entries(
        self, commands: Sequence[Command], replies: list[Any], unusable: Sequence[int]
    ) -> None:
        """Deletes all keys of these commands, which makes a miss of them. One round trip."""
        again: list[Command] = []
        for n in unusable:
            keys = keys_of(commands[n])
            report_undecodable(keys[0], replies[n])
            again += [("DEL", *keys), commands[n]]
        for n, reply in zip(unusable, self._exchange(again)[1::2], strict=True):
            replies[n] = reply


# Called with the Unix time since which Redis answers again. False: not yet.
_recovery_checks: list[Callable[[float], bool]] = []


def wait_before_recovery(is_ready: Callable[[float], bool]) -> None:
    """This process does not use Redis, after it was away, before `is_ready` says so."""
    _recovery_checks.append(is_ready)


def _record(commands: Iterable[Command], sent: list[Command]) -> Iterator[Command]:
    for command in commands:
        sent.append(command)
        yield command


@cache
def redis() -> FeedRedis:
    """The client of this process, for one Redis server or for a cluster."""
    if not _clients:
        _clients.append(connect_redis(settings.REDIS_TIMEOUT_MS / 1000))
    return _clients[0]


# Threads that call `redis` first at the same time may add several, and all use the first one: each
# client has a breaker, and calls that it sends before anything else.
_clients: list[FeedRedis] = []


def forget_client() -> None:
    """The next call of `redis` creates a new client."""
    _clients.clear()
    redis.cache_clear()


def connect_redis(timeout_s: float) -> FeedRedis:
    """A new client with this limit on the wait for an answer. Use `redis()` unless you need it."""
    options: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
    }
    if settings.REDIS_CLUSTER:
        return FeedRedis(ClusterClient(partial(connect_cluster, options)))
    return FeedRedis(SingleClient(Redis.from_url(settings.REDIS_URL, **options)))


# A forked process must not read its parent's replies.
os.register_at_fork(after_in_child=forget_client)
