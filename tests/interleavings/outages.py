"""A Redis that is away for a while, as an actor, and the thread of the breaker as another one."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import breaker, client
from infra.caching.client import redis
from infra.caching.unsent import UnsentCalls
from tests.interleavings.actors import Actor, current_actor, pause


class _Outages:
    """`count`: how many there were. A call that is on its way when Redis goes away fails too."""

    count = 0
    is_away = False


def pass_outage() -> None:
    """An actor: Redis is away, and this actor's own call notices it."""
    _Outages.is_away, _Outages.count = True, _Outages.count + 1
    with suppress(RedisConnectionError):
        redis().call("PING")
    _Outages.is_away = False


@contextmanager
def during_outages() -> Iterator[None]:
    """Around the wait of a call. Raises RedisConnectionError if Redis is or was away."""
    before = _Outages.count
    yield
    if _Outages.is_away or _Outages.count != before:
        raise RedisConnectionError("away")


def make_breaker_an_actor(patch: pytest.MonkeyPatch) -> None:
    """The breaker's thread takes part in the schedule."""
    replaced = SimpleNamespace(
        Lock=threading.Lock, Thread=_Recovery, current_thread=_current_thread
    )
    patch.setattr(breaker, "threading", replaced)
    patch.setattr(breaker, "time", SimpleNamespace(sleep=_sleep, monotonic=time.monotonic))
    # An actor that waits for another one stops the schedule.
    patch.setattr(client, "SHORT_OUTAGE_S", 0.0)
    patch.setattr(UnsentCalls, "send", _send_and_stop(UnsentCalls.send))


def _send_and_stop(send: Callable[..., bool]) -> Callable[..., bool]:
    """The breaker's thread also stops before it closes."""

    def run(calls: UnsentCalls, clear: Callable[[], object]) -> bool:
        is_sent = send(calls, clear)
        pause("before the breaker closes")
        return is_sent

    return run


class _Recovery:
    """In place of a thread that an actor starts."""

    def __init__(self, target: Callable[[], None], name: str, daemon: bool) -> None:
        self._run, self._name = target, name

    def start(self) -> None:
        actor = current_actor()
        assert actor is not None, "Redis is away for actors only"
        recovering = Actor(self._name, self._run, actor.add)
        recovering.thread = self
        actor.add(recovering)


def _current_thread() -> object:
    actor = current_actor()
    return (actor and actor.thread) or threading.current_thread()


def _sleep(_: float) -> None:
    pause("sleeps", gives_way=True)
