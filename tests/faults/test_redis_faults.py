"""A Redis that dies, hangs, forgets and comes back, under the thin client.

Redis dies or is cut off under a web server at 15 requests a second: none fails.

That it hangs is experiment F5 of `make faults`.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from infra.caching.client import FeedRedis
from infra.caching.connection import TRUSTED_S
from infra.caching.single import SingleClient
from infra.caching.values import CHANGE
from lab.faults.cluster.links import linked
from tests.faults.hung_world import (
    SHARDS,
    HungWorld,
    environment_of,
    running_web,
    warm_up,
)
from tests.faults.redis_alone import TIMEOUT_S
from tests.paced_requests import Ask, percentile
from tests.server_faults import kill, pause, resume
from tests.waiting import PATIENCE_S, until


def is_left_alone(client):
    with pytest.raises(RedisConnectionError, match="retried soon"):
        client.call("PING")
    return True


def in_threads(count, work):
    outcomes, ready = [], threading.Barrier(count, timeout=PATIENCE_S)

    def run():
        ready.wait()
        try:
            outcomes.append(work())
        except RedisError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def wait_for(answer, call):
    """Redis is back: it is noticed."""

    def is_answered():
        with suppress(RedisError):
            return call() == answer

    until(is_answered)


def test_dead_redis_refuses_at_once_and_is_heard_again_when_it_is_back(server, client):
    client.call("SET", "a", 1)
    kill(server)
    with pytest.raises(RedisConnectionError):  # refused, not waited for: that is a time-out
        client.call("PING")
    assert is_left_alone(client)
    server.start()
    wait_for(b"PONG", lambda: client.call("PING"))


def test_hung_redis_costs_its_callers_one_timeout(server, client, asked):
    client.call("PING")
    pause(server)
    asked.clear()
    began = time.monotonic()
    with pytest.raises(RedisTimeoutError):
        client.call("PING")
    # A time-out in another unit would be milliseconds, or many minutes.
    assert TIMEOUT_S <= time.monotonic() - began < 60 * TIMEOUT_S
    assert all(is_left_alone(client) for _ in range(100))
    refusals = Counter(type(one) for one in in_threads(8, lambda: client.call("PING")))
    assert refusals == {RedisConnectionError: 8}
    assert len(asked) == 1


def test_redis_that_answers_again_is_used_without_a_caller_that_tries(server, client, asked):
    pause(server)
    with pytest.raises(RedisError):
        client.call("PING")
    asked.clear()
    resume(server)
    until(lambda: not client._breaker._recovering)
    assert asked == []
    assert client.call("PING") == b"PONG"


def test_late_replies_are_nobody_elses(server, client):
    """The reply to the call that timed out arrives later, and must not answer the next one."""
    client.run([("SET", "a", "of a"), ("SET", "b", "of b")])
    pause(server)
    with pytest.raises(RedisError):
        client.run([("GET", "a"), ("GET", "a")])
    resume(server)
    wait_for([b"of b", b"of b"], lambda: client.run([("GET", "b"), ("GET", "b")]))
    assert client.run([("ECHO", "1"), ("GET", "b"), ("ECHO", "2")]) == [b"1", b"of b", b"2"]


def test_interrupted_read_leaves_no_replies_behind(client, monkeypatch):
    """Ctrl-C, or anything else, between the question and its answer."""
    client.call("SET", "b", "of b")
    connection = client._client._server._connection()
    with monkeypatch.context() as patch:
        patch.setattr(connection, "_read", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            client.call("ECHO", "never read")
    assert client.call("GET", "b") == b"of b"


def test_every_thread_gets_over_a_restart_without_an_error(server, client):
    """Their connections are dead, the server is not: nobody is refused for that."""
    go_on, restarted = (threading.Barrier(5, timeout=PATIENCE_S) for _ in range(2))
    refused = []

    def work():
        client.call("PING")
        go_on.wait()
        restarted.wait()
        try:
            client.call("PING")
        except RedisError as error:
            refused.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    go_on.wait()
    server.stop()
    server.start()
    restarted.wait()
    for thread in threads:
        thread.join()
    assert refused == []


def test_connection_closed_while_it_rested_is_replaced_without_an_error(server, client):
    number = client.call("CLIENT", "ID")
    with Redis.from_url(server.url) as other:
        other.client_kill_filter(_id=number)
    time.sleep(2 * TRUSTED_S)  # it rests that long, or it would be used unseen
    assert client.call("PING") == b"PONG"
    assert client.call("CLIENT", "ID") != number


def test_server_that_lost_its_scripts_is_given_them_again(server, client):
    put = CHANGE.on([b"tests:v1:{1}", b"tests:v1:{1}:load"], 1, b"x", 60_000)
    assert client.run([put]) == [0]
    server.stop()
    server.start()
    assert client.run([put, put]) == [0, 0]
    client.call("SCRIPT", "FLUSH")
    assert client.run([put]) == [0]


def test_server_that_is_away_from_the_start_raises_what_callers_expect(server):
    kill(server)
    client = FeedRedis(SingleClient(Redis.from_url(server.url, retry=Retry(NoBackoff(), 0))))
    with pytest.raises(RedisConnectionError):
        client.call("PING")


# A page that is made from tables costs 25 ms on two slow cores, which the databases use as well.
PER_S, LASTING_S = 15, 2.0
# Of the promise. The first request of each thread waits for REDIS_TIMEOUT_MS, the others do not.
SLOWEST_S = 0.4
# What a crowded machine may add. A process that asked Redis for each page would need far longer:
# every page asks several times, and four threads cannot answer 15 requests a second then.
CROWDED_S = 2.0
LIMITS = {"REDIS_TIMEOUT_MS": "250", "DATABASE_ANSWER_MS": "20000"}


class Fault(NamedTuple):
    """`environment`: of processes that shall notice it."""

    environment: dict[str, str]
    begin: Callable[[], object]
    end: Callable[[], object]


@contextmanager
def killed(services):
    server = services.redis
    yield Fault(services.environment(), partial(kill, server), server.start)


@contextmanager
def swallowed(services):
    """No byte arrives, in either direction."""
    url = services.environment()["REDIS_URL"]
    with linked({"redis": url}) as links:
        environment = services.environment() | {"REDIS_URL": links.url("redis", url)}
        yield Fault(environment, partial(links.stall, "redis"), links.reset)


def reads_and_writes(world):
    """Ten reads of warm pages for each write."""
    posts = [
        Ask("post", world.tokens[one], "/api/v1/statuses", "POST", {"status": "new"})
        for one in SHARDS
    ]
    return [*world.homes() * 10, *posts]


@pytest.mark.parametrize("kind", [killed, swallowed])
def test_no_request_fails_and_few_wait(services, tmp_path, kind):
    world = HungWorld()
    asks = reads_and_writes(world)
    with (
        kind(services) as fault,
        running_web(environment_of(fault.environment | LIMITS), tmp_path / "web.log") as clients,
    ):
        warm_up(clients, asks, 2)
        fault.begin()
        try:
            answers = clients.paced(asks, PER_S, LASTING_S)
        finally:
            fault.end()
        after = clients.paced(asks, PER_S, LASTING_S / 4)
    assert {one.status for one in answers} == {200}
    assert percentile(answers, 0.99) < SLOWEST_S + CROWDED_S
    assert {one.status for one in after} == {200}
