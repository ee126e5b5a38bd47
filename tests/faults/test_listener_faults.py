"""The connection on which a process hears of changes is cut, or inherited: nothing stays wrong."""

import json
import subprocess
import sys

import pytest
from django.conf import settings
from redis import Redis

from infra.caching.invalidation import FAMILY as CHANNEL
from infra.caching.values import ValueCache
from tests.hot_reader import FAMILY, OWNER
from tests.other_process import environment_of_this_test
from tests.waiting import until

SPEC = ValueCache(FAMILY, ttl_s=3_600, load=dict.fromkeys)


@pytest.fixture
def redis(server, client):
    client.call("PING")  # the first connection to a new server would delete what a test wrote
    with Redis.from_url(server.url) as client:
        client.flushdb()
        yield client


@pytest.fixture
def start(server, redis, databases):
    """Starts a module as a process on this Redis."""
    started = []

    def start_one(module):
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [sys.executable, "-m", module],
            env=environment_of_this_test() | {"REDIS_URL": server.url},
            cwd=settings.BASE_DIR,
            stdin=pipe,
            stdout=pipe,
            text=True,
        )
        started.append(process)
        return process

    yield start_one
    for process in started:
        with process:
            process.stdin.close()


def change(redis, version, is_told):
    """As ValueCache.refresh does, or by a writer of whom nobody hears."""
    payload = b"%d" % version
    redis.set(SPEC.key(OWNER), b"%d:%d:%b" % (version, 2**40, payload))
    if is_told:
        redis.publish(channel(), json.dumps(["test", FAMILY, [OWNER]]))
    return payload.decode()


def channel():
    return f"{CHANNEL}:{{0}}"


def listeners(redis):
    return redis.pubsub_numsub(channel())[0][1]


def wait_for_listeners(redis, count):
    until(lambda: listeners(redis) == count, said=lambda: listeners(redis))


def test_cut_connection_drops_all_copies_and_another_one_is_made(start, redis):
    """By themselves they would live for an hour."""
    change(redis, 1, is_told=False)
    reader = start("tests.hot_reader")
    assert reader.stdout.readline() == "hot\n"
    wait_for_listeners(redis, 1)
    payload = change(redis, 2, is_told=False)
    assert redis.client_kill_filter(_type="pubsub") == 1
    assert reader.stdout.readline() == f"{payload}\n"
    wait_for_listeners(redis, 1)
    payload = change(redis, 3, is_told=True)
    assert reader.stdout.readline() == f"{payload}\n"


def test_forked_process_takes_no_part_in_its_parents_connection(start, redis):
    family = start("tests.fork_listener")
    assert json.loads(family.stdout.readline()) == {"did": "listening"}
    wait_for_listeners(redis, 1)
    print(file=family.stdin, flush=True)
    forked = json.loads(family.stdout.readline())
    assert forked == {"did": "forked", "threads": 1, "holds_socket": False}
    # The parent is gone, and with it all that listened, though its child lives on.
    wait_for_listeners(redis, 0)
    print(file=family.stdin, flush=True)
    assert json.loads(family.stdout.readline()) == {"did": "listening"}
    wait_for_listeners(redis, 1)
