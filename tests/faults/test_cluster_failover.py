"""A Redis Cluster whose primary is lost together with writes that its replica did not get."""

from functools import partial

import pytest
from redis import RedisCluster
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.exceptions import RedisError
from redis.retry import Retry

from infra.caching.client import FeedRedis
from infra.caching.cluster import ClusterClient
from lab.faults.cluster.redis_nodes import running_nodes
from lab.runner.redis_cluster import redis_cluster, wait_until
from tests.faults.cluster_nodes import name_on
from tests.waiting import until


@pytest.fixture
def nodes():
    """Three primaries, and a replica of the first."""
    with redis_cluster(replicas=1) as members:
        yield members


def connected(nodes):
    """As another process."""
    options = {"socket_timeout": 1, "protocol": 2, "retry": Retry(NoBackoff(), 0)}
    return FeedRedis(ClusterClient(partial(RedisCluster.from_url, nodes[1].url, **options)))


def lose_write(nodes, client, name):
    """The replica is promoted with "old", and "new" was acknowledged. No process has seen it."""
    primary, *_, replica = nodes
    client.call("SET", name, "old")
    until(lambda: replica.redis.info("replication")["slave_repl_offset"] == offset(primary))
    replica.refuse_primary()
    until(lambda: not replica.has_its_primary())
    client.call("SET", name, "new")
    primary.kill()
    wait_until(replica.is_primary)
    replica.follow_primary()


def offset(primary):
    return primary.redis.info("replication")["master_repl_offset"]


def read(client, name):
    """Once it is used again."""
    answers = []

    def is_answered():
        try:
            answers.append(client.call("GET", name))
        except RedisError:
            return False
        return True

    until(is_answered)
    return answers[0]


def test_slots_that_left_a_promoted_node_before_it_was_emptied_bring_no_old_data(nodes):
    name, before = name_on(nodes[0]), connected(nodes)
    other = name_on(nodes[1])
    before.call("SET", other, "stays")
    lose_write(nodes, before, name)
    nodes[3].move_slots(nodes[1], key_slot(name), key_slot(name))
    assert nodes[1].redis.get(name) == "old"
    for client in (before, connected(nodes)):
        assert read(client, name) is None
        assert read(client, other) == b"stays"


def test_a_node_that_is_cut_off_from_the_others_is_left():
    """It answers that the cluster is down, and names itself when it is asked who has its slots."""
    with running_nodes() as cluster:
        primary, replica = cluster.pair(0)
        options = {"socket_timeout": 1, "protocol": 2, "retry": Retry(NoBackoff(), 0)}
        connect = partial(RedisCluster.from_url, primary.url, **options)
        client, name = FeedRedis(ClusterClient(connect)), name_on(primary)
        client.call("SET", name, 1)
        assert cluster.cut_off(primary)
        wait_until(replica.is_primary)
        # The old primary notices up to a tenth of a second later that it is alone.
        wait_until(lambda: read(client, name) is None)
