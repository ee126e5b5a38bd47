"""The thin client: scripts that reload themselves, error replies, threads, forks."""

import os
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from hiredis import pack_command
from redis.exceptions import ResponseError

from infra.caching import client
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.scripts import load_script
from tests.budgets import count_calls
from tests.waiting import PATIENCE_S

KEYS = [key("tests.client:v1", owner) for owner in range(50)]


def trips(monkeypatch):
    """Counts round trips by what a client is handed."""
    single, sent = redis()._client, []
    run = single.run

    def counted(commands):
        sent.append(len(commands))
        return run(commands)

    monkeypatch.setattr(single, "run", counted)
    return sent


def test_replies_come_in_order(cache):
    commands = [("SET", KEYS[0], "x"), ("GET", KEYS[0]), ("GET", KEYS[1]), ("PING",)]
    assert cache.run(commands) == [b"OK", b"x", None, b"PONG"]


class Watched:
    """A socket that knows how many commands of one kind are under way."""

    def __init__(self, sock, command=b"PING", answer=b"PONG"):
        self._sock, self.window, self.most = sock, 0, 0
        self._command, self._answer = command, answer

    def sendall(self, data):
        self.window += data.count(self._command)
        self.most = max(self.most, self.window)
        self._sock.sendall(data)

    def recv(self, size):
        data = self._sock.recv(size)
        self.window -= data.count(self._answer)
        return data


@pytest.mark.parametrize(("how", "most"), [("run_windowed", 2), ("run", 10)])
def test_flood_has_few_commands_under_way(cache, monkeypatch, how, most):
    cache.call("PING")
    connection = cache._client._server._connection()
    watched = Watched(connection._sock)
    monkeypatch.setattr(connection, "_ready_socket", lambda: watched)
    with count_calls() as calls:
        assert getattr(cache, how)([("PING",)] * 10) == [b"PONG"] * 10
    assert watched.most == most
    assert calls.round_trips == 1, "a windowed run counts as one"


def test_flood_of_a_script_that_the_server_does_not_know(cache, tmp_path):
    text = tmp_path / "new.lua"
    text.write_text(f"return ARGV[1] -- {tmp_path}")
    script = load_script(text)
    calls = (script.on([KEYS[0]], n) for n in range(5))
    assert cache.run_windowed(calls) == [b"%d" % n for n in range(5)]


def test_error_reply_in_a_flood_is_raised_after_all_have_run(cache):
    puts = [("SET", name, "x") for name in KEYS]
    with pytest.raises(ResponseError, match="syntax error"):
        cache.run_windowed(iter([puts[0], ("SET", KEYS[0], "y", "NO"), *puts[1:]]))
    assert cache.call("MGET", *KEYS) == [b"x"] * len(KEYS)


def test_no_commands_no_trip(cache):
    with count_calls() as calls:
        assert cache.run([]) == cache.run_windowed(iter([])) == []
    assert calls.round_trips == 0


def test_error_reply_is_raised_after_all_have_run(cache):
    with pytest.raises(ResponseError, match="syntax error"):
        cache.run([("SET", KEYS[0], "x"), ("SET", KEYS[0], "y", "NO"), ("SET", KEYS[1], "z")])
    assert cache.call("MGET", KEYS[0], KEYS[1]) == [b"x", b"z"]


def test_unknown_scripts_are_sent_again_in_one_trip(cache, monkeypatch, tmp_path):
    """A new one: the server's own are known to whoever else uses it now."""
    script = tmp_path / "new.lua"
    script.write_text(f"redis.call('SET', KEYS[1], ARGV[1]) return 1 -- {uuid4()}")
    new, sent = load_script(script), trips(monkeypatch)
    puts = [new.on([name], b"x") for name in KEYS]
    replies = cache.run([*puts, ("GET", KEYS[0]), ("PING",)])
    assert replies[:50] == [1] * 50
    assert replies[-1] == b"PONG"
    assert sent == [52, 50]
    cache.run(puts)
    assert sent == [52, 50, 50]


def test_packed_commands_get_the_same_replies(cache, tmp_path):
    """Also to scripts that the server does not know, and to entries of another type."""
    text = tmp_path / "new.lua"
    text.write_text(f"return redis.call('GET', KEYS[1]) -- {uuid4()}")
    cache.run([("SET", KEYS[0], "x"), ("SET", KEYS[1], "no hash")])
    commands = [("GET", KEYS[0]), load_script(text).on([KEYS[0]], "a"), ("HGET", KEYS[1], "f")]
    assert cache.run([*map(pack_command, commands)]) == [b"x", b"x", None]
    assert cache.call("EXISTS", KEYS[1]) == 0, "an entry of another type is deleted"


def test_threads_do_not_read_each_others_replies(cache):
    """Each thread has a connection of its own."""
    ready, wrong = threading.Barrier(8, timeout=PATIENCE_S), Counter()

    def work(number):
        ready.wait()
        for turn in range(200):
            text = b"%d:%d" % (number, turn)
            if cache.run([("ECHO", text), ("ECHO", text * 100)]) != [text, text * 100]:
                wrong[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_reply_of_many_megabytes(cache):
    cache.call("SET", KEYS[0], b"x" * 5_000_000)
    assert cache.run([("GET", KEYS[0]), ("ECHO", b"next")])[1] == b"next"


def test_threads_that_begin_at_once_get_one_client(monkeypatch):
    """Two would have two breakers, and calls that wait for Redis in one only."""
    start = threading.Barrier(8, timeout=PATIENCE_S)
    connect = client.connect_redis

    def connect_slowly(timeout_s):
        time.sleep(0.05)
        return connect(timeout_s)

    monkeypatch.setattr(client, "connect_redis", connect_slowly)
    monkeypatch.setattr(client, "_clients", [])
    client.redis.cache_clear()

    def first_call(_):
        start.wait()
        return client.redis()

    try:
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(first_call, range(8)))) == 1
    finally:
        client.redis.cache_clear()


def test_forked_process_does_not_share_its_parents_connection(cache):
    cache.call("PING")
    ours = cache.call("CLIENT", "ID")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, b"%d" % redis().call("CLIENT", "ID"))
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, "rb") as answer:
        theirs = int(answer.read())
    assert theirs != ours
    assert cache.call("CLIENT", "ID") == ours
