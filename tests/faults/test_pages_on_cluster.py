"""Pages on a Redis Cluster of which a node is lost while a page is made."""

from contextlib import contextmanager
from unittest.mock import patch

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import connected_server
from infra.caching.client import redis
from infra.caching.cluster import ClusterClient
from lab.runner.redis_cluster import redis_cluster
from posts.actions.delete_post import delete_post
from relations.actions.follow import follow
from tests.integration.timelines.homes import first_page, newest_first
from tests.redis_away import wait_for_redis
from tests.waiting import until
from tests.world import drain_all, flush_redis, forget_memory, make_accounts, publish

pytestmark = pytest.mark.redis("cluster")
AUTHORS = 12


@pytest.fixture(scope="module")
def redis_nodes():
    """Of this module's own: three primaries, and a replica of the first."""
    with redis_cluster(replicas=1) as nodes:
        yield nodes


class Reader:
    """Follows authors whose keys are on all nodes. `look`: the ids of the first page."""

    def __init__(self):
        self.me, *authors = make_accounts(AUTHORS + 1)
        for author in authors:
            follow(self.me, author)
        self.posts = [publish(author) for author in authors]
        drain_all()
        for _ in range(2):  # the first one loads what the second one finds
            self.look()
            forget_memory()

    def look(self):
        return first_page(self.me)

    def expected(self):
        return newest_first(*self.posts)


@pytest.fixture
def reader(world):
    return Reader()


@contextmanager
def before_second_trip(act):
    """`act` is called between the two round trips of a page. The block gets what the trips gave."""
    run, outcomes = ClusterClient.run, []

    def watched(client, commands):
        if len(outcomes) == 1:
            outcomes.append("acting")
            act()
        try:
            replies = run(client, commands)
        except RedisConnectionError as error:
            outcomes.append(error)
            raise
        outcomes.append(replies)
        return replies

    with patch.object(ClusterClient, "run", watched):
        yield outcomes


def test_node_that_is_killed_between_the_trips_of_a_page(reader, redis_nodes):
    """The second trip fails as a whole: what it lacks comes from the shards."""
    dead = redis_nodes[1]
    try:
        with before_second_trip(dead.kill) as outcomes:
            assert reader.look() == reader.expected()
        assert isinstance(outcomes[2], RedisConnectionError)
        delete_post(reader.posts.pop())
        assert reader.look() == reader.expected(), "while the node is away"
    finally:
        dead.start()
        until(dead.is_up)
        until(lambda: all(node.is_in_cluster() for node in redis_nodes))
    wait_for_redis()
    reader.posts.append(publish(reader.posts[0].author_id))
    drain_all()
    assert reader.look() == reader.look() == reader.expected()


@pytest.mark.parametrize(("accepted_s", "outcome"), [(60, list), (0, RedisConnectionError)])
def test_failover_between_the_trips_of_a_page(
    reader, redis_nodes, monkeypatch, accepted_s, outcome
):
    """The old primary sends its part of the trip on, unless it is asked for a write. The new one
    may lack the last changes, so nothing that it has is used."""
    monkeypatch.setattr(connected_server, "ACCEPTED_S", accepted_s)
    primary, replica = pair_of(redis_nodes)
    with before_second_trip(lambda: fail_over(primary, replica)) as outcomes:
        assert reader.look() == reader.expected()
    assert isinstance(outcomes[2], outcome)
    delete_post(reader.posts.pop())
    client = redis()._client
    old = client._servers[primary.url.removeprefix("redis://")]

    def is_left_alone():
        assert reader.look() == reader.expected()
        return old not in client._table

    until(is_left_alone, within_s=10)


def test_recovery_that_empties_all_nodes_finds_the_new_primary(world, redis_nodes, monkeypatch):
    monkeypatch.setattr(connected_server, "ACCEPTED_S", 0)
    flush_redis()
    fail_over(*pair_of(redis_nodes))
    with pytest.raises(RedisConnectionError):
        flush_redis()
    until(is_flushed, within_s=10)


def is_flushed():
    try:
        flush_redis()
    except RedisConnectionError:
        return False
    return True


def pair_of(nodes):
    """A primary and its replica, as they are now."""
    first, *_, last = nodes
    return (first, last) if first.is_primary() else (last, first)


def fail_over(primary, replica):
    until(replica.has_its_primary)
    replica.say("CLUSTER", "FAILOVER")
    until(replica.is_primary)
    until(lambda: not primary.is_primary())
