"""A Redis that dies, hangs, forgets and comes back, under the thin client."""

import threading
import time
from collections import Counter
from contextlib import suppress

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
from tests.faults.redis_alone import TIMEOUT_S
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
