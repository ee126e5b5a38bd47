"""Redis answers and refuses all writes: a replica that it needs is away, or its disk is full.

It cannot forget what an account has just taken out, so it counts as away.
"""

from functools import partial

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.errors import RedisRefuses
from tests.faults.test_redis_faults import is_left_alone, wait_for
from tests.faults.test_redis_pause import ACTS, assert_seen, both, processes
from tests.world import drain_all

__all__ = ["both", "processes"]  # fixtures


@pytest.fixture
def refuse(request):
    """Makes a Redis want more replicas than it has."""

    def want(server, replicas):
        with Redis.from_url(server.url) as admin:
            admin.config_set("min-replicas-to-write", replicas)

    def begin(server):
        request.addfinalizer(partial(want, server, 0))
        want(server, 1)
        return partial(want, server, 0)

    return begin


def test_it_is_left_alone_until_it_accepts_writes(server, client, refuse):
    client.call("SET", "a", 1)
    accept = refuse(server)
    with pytest.raises(RedisRefuses):
        client.call("SET", "a", 2)
    for _ in range(20):
        with pytest.raises(RedisConnectionError):
            client.call("GET", "a")
    assert is_left_alone(client)
    accept()
    wait_for(b"1", lambda: client.call("GET", "a"))


@pytest.mark.parametrize("name", ["delete", "block"])
def test_an_act_is_seen_when_it_accepts_writes_again(services, both, refuse, name):
    act, (actor, _) = ACTS[name](), both
    act.prepare(actor)
    drain_all()
    assert not any(act.is_seen(one) for one in both)
    accept = refuse(services.redis)
    act.do(actor)
    assert act.is_seen(actor)
    accept()
    assert_seen([act], both)
