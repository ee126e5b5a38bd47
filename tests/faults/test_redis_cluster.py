"""A real Redis Cluster of three nodes under the client, the caches and the timelines' scripts."""

import time
from functools import partial

import pytest
from redis import RedisCluster
from redis.crc import key_slot
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from infra.caching import client
from infra.caching.breaker import Breaker
from infra.caching.client import FeedRedis
from infra.caching.cluster import ClusterClient
from infra.caching.cluster_slots import slot_of_key
from infra.caching.hashes import HashCache, HashChange
from infra.caching.keys import key
from infra.caching.lists import (
    CachedList,
    Item,
    ListCache,
    ListChange,
    ListVersionMarker,
    LoadedList,
)
from infra.caching.load_tokens import begin_loads
from infra.caching.purging import purge
from infra.caching.questions import answer, ask_each, ask_keys
from infra.caching.relationship_cache import RelationshipCache
from infra.caching.scanning import list_nodes
from infra.caching.values import ValueCache, Versioned
from infra.read_limits import ACCEPTED_S
from lab.runner.port import free_port
from operations.verbs.caches import PURGEABLE
from posts.ids import PostId
from tests.cached_lists import write_list
from tests.cached_values import write_values
from tests.faults.cluster_nodes import name_on, owns
from tests.waiting import until
from timelines.stores import packed
from timelines.types import Entry, LiveTimeline

OWNERS = range(1, 31)
LISTS = ListCache("tests.list:v1", ttl_s=60, max_items=100)
HASHES = HashCache("tests.hash:v1", ttl_s=60)
PAIRS = RelationshipCache("tests.pairs:v1", 60, 60, 127, 100, 1_000, read=int)


def test_owners_are_spread_and_replies_are_a_single_servers(cluster, nodes):
    puts = [("SET", b"tests:v1:{%d}" % owner, owner) for owner in OWNERS]
    assert cluster.run(puts) == [b"OK"] * len(OWNERS)
    gets = [("GET", b"tests:v1:{%d}" % owner) for owner in OWNERS]
    assert cluster.run(gets) == [b"%d" % owner for owner in OWNERS]
    assert all(node.redis.dbsize() for node in nodes)
    assert cluster.call("PING") == b"PONG"


def test_keys_of_many_owners_are_read_together(cluster):
    keys = [b"tests:v1:{%d}" % owner for owner in OWNERS]
    cluster.run([("SET", name, "x") for name in keys[:-1]])
    assert answer(ask_keys(keys, list)) == [b"x"] * (len(OWNERS) - 1) + [None]


def test_values(cluster):
    spec = ValueCache("tests.value:v1", 60, lambda ids: {i: Versioned(2, b"%d" % i) for i in ids})
    loaded = {owner: b"%d" % owner for owner in OWNERS}
    assert spec.load_many(OWNERS) == loaded
    write_values(spec, {owner: Versioned(1, b"old") for owner in OWNERS})
    assert spec.load_many(OWNERS) == loaded


def test_lists(cluster):
    old, new = Item(1, b"000001"), Item(2, b"000002")
    for owner in OWNERS:
        write_list(LoadedList(LISTS, 1, [old], True), owner)
    change = ListChange(1, 2, [new], [])
    assert cluster.run([LISTS.change_command(o, change) for o in OWNERS]) == [1] * len(OWNERS)
    for owner in OWNERS:
        assert answer(LISTS.ask_version_marker(owner)) == ListVersionMarker(2, True)
        assert answer(LISTS.ask_all(owner)) == CachedList(2, True, [new, old])


def test_hashes(cluster):
    tokens = begin_loads(HASHES.family, [HASHES.key(owner, 0) for owner in OWNERS])
    for owner in OWNERS:
        cluster.run(HASHES.write_commands(owner, 0, tokens, 1, {"a": b"1"}))
    cluster.run([HASHES.change_command(o, 0, HashChange(1, 2, {"b": b"2"}, ["a"])) for o in OWNERS])
    found = answer(ask_each({owner: HASHES.ask(owner, 0, ["a", "b"]) for owner in OWNERS}))
    assert found == {owner: [None, b"2"] for owner in OWNERS}


def test_pairs(cluster):
    """Hash and filter of an owner are on one node, so that one script may have both."""
    readings = answer(ask_each({owner: PAIRS.ask(owner, [1, 2]) for owner in OWNERS}))
    made = PAIRS.make_filter([1])
    writes = [PAIRS.write_command(owner, read, {1: 5}, made) for owner, read in readings.items()]
    assert cluster.run(writes) == [1] * len(OWNERS)
    cluster.run([PAIRS.change_command(owner, [2]) for owner in OWNERS])
    asked = ask_each({owner: PAIRS.ask(owner, [1, 2, 3]) for owner in OWNERS})
    for reading in answer(asked).values():
        assert (reading.cached, reading.unknown) == ({1: 5}, [2])


def test_posts_are_pushed_to_readers_on_every_node(cluster):
    store = packed.PackedStore(max_entries=10, live_s=60)
    post = Entry.of_post(PostId(1_000_000, 7, 1))
    for reader in OWNERS[:-1]:
        store.begin_build(reader, 1)
        assert store.finish_build(reader, 1, LiveTimeline.of([], 0, 1))
    assert store.push(dict.fromkeys(OWNERS, (post,))) == len(OWNERS) - 1
    asked = [store.ask(reader) for reader in OWNERS]
    timelines = [question.decode(cluster.run(question.commands)) for question in asked]
    assert timelines[-1] is None
    assert all(found.packed == [post.packed] for found in timelines[:-1])


def test_scripts_forgotten_by_one_node_only(cluster, nodes):
    changes = [LISTS.change_command(owner, ListChange(1, 2)) for owner in OWNERS]
    assert cluster.run(changes) == [0] * len(OWNERS)
    nodes[1].say("SCRIPT", "FLUSH")
    assert cluster.run(changes) == [0] * len(OWNERS)


def test_error_reply_of_one_key_is_raised_after_all_ran(cluster):
    with pytest.raises(RedisError, match="syntax error"):
        cluster.run(
            [("SET", "{a}", 1), ("SET", "{a}", 1, "NO"), ("SET", "{b}", 2), ("SET", "{c}", 3)]
        )
    assert answer(ask_keys([b"{a}", b"{b}", b"{c}"], list)) == [b"1", b"2", b"3"]


class Moving:
    """The slot of a key moves from its node to another one."""

    def __init__(self, nodes, key):
        self.nodes, self.key, self.slot = nodes, key, key_slot(key)
        self.source = next(n for n in nodes if owns(n, self.slot))
        self.target = next(n for n in nodes if n is not self.source)

    def begin(self):
        source, target = (node.say("CLUSTER", "MYID") for node in (self.source, self.target))
        self.target.say("CLUSTER", "SETSLOT", self.slot, "IMPORTING", source)
        self.source.say("CLUSTER", "SETSLOT", self.slot, "MIGRATING", target)

    def end(self):
        self.source.say("MIGRATE", "127.0.0.1", self.target.port, self.key, 0, 1_000)
        for node in (self.target, self.source, *self.nodes):
            node.say("CLUSTER", "SETSLOT", self.slot, "NODE", self.target.say("CLUSTER", "MYID"))


def test_slot_that_moves_is_followed(cluster, nodes):
    """First half moved (ASK for what is over there already), then for good (MOVED). In the end it
    is empty: no process knows whether all of it is the latest."""
    here, there = b"tests:v1:{1}", b"tests:v1:{1}:2"
    moving = Moving(nodes, here)
    assert moving.slot == key_slot(there)
    cluster.run([("SET", here, "here")])
    moving.begin()
    assert cluster.run([("SET", there, "there"), ("GET", here)]) == [b"OK", b"here"]
    moving.end()
    assert cluster.run([("GET", here), ("GET", there), ("PING",)]) == [None, None, b"PONG"]
    assert cluster.run([("SET", here, "again"), ("GET", here)]) == [b"OK", b"again"]


def test_keys_of_many_owners_are_read_while_one_of_them_moves(cluster, nodes):
    keys = [b"tests:v1:{%d}" % owner for owner in OWNERS]
    cluster.run([("SET", name, name) for name in keys])
    moving = Moving(nodes, keys[7])
    moving.begin()
    assert answer(ask_keys(keys, list)) == keys
    moving.end()
    left = [name if slot_of_key(name) != moving.slot else None for name in keys]
    for _ in range(2):
        assert answer(ask_keys(keys, list)) == left


def test_setting_chooses_the_cluster(nodes, settings):
    settings.REDIS_CLUSTER = True
    settings.REDIS_URL = f"redis://127.0.0.1:{nodes[0].port}"
    client.forget_client()
    try:
        assert client.redis().keys_per_script == 1
        assert client.redis().call("SET", "x", 1) == b"OK"
    finally:
        client.forget_client()


def test_a_node_that_is_away_at_the_start_is_asked_for_by_another(nodes, settings):
    """Commands and maintenance too."""
    settings.REDIS_CLUSTER = True
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}"
    settings.REDIS_OTHER_NODES = [nodes[1].url]
    client.forget_client()
    try:
        assert client.redis().call("SET", "x", 1) == b"OK"
        assert len(list_nodes()) == len(nodes)
    finally:
        client.forget_client()


def test_without_any_named_node_maintenance_raises_what_callers_expect(settings):
    settings.REDIS_CLUSTER, settings.REDIS_URL = True, f"redis://127.0.0.1:{free_port()}"
    with pytest.raises(RedisConnectionError):
        list_nodes()


def test_cluster_that_is_away_from_the_start_raises_what_callers_expect():
    connect = partial(RedisCluster.from_url, f"redis://127.0.0.1:{free_port()}")
    feed = FeedRedis(ClusterClient(connect))
    with pytest.raises(RedisConnectionError):
        feed.call("PING")
    with pytest.raises(RedisConnectionError, match="retried soon"):
        feed.call("PING")


def test_node_that_dies_is_missed_alone_and_only_for_its_keys(cluster, nodes, monkeypatch):
    """The cluster has no replicas: what the node held is out of reach until it is back."""
    monkeypatch.setattr(Breaker, "trip", lambda _: None)
    names = {node.port: name_on(node) for node in nodes}
    assert cluster.run([("SET", name, 1) for name in names.values()]) == [b"OK"] * 3
    dead = nodes[1]
    dead.kill()
    try:
        with pytest.raises(RedisConnectionError):
            cluster.call("GET", names[dead.port])
        for port in {node.port for node in nodes} - {dead.port}:
            assert cluster.call("GET", names[port]) == b"1"
    finally:
        dead.start()
        until(lambda: all(node.is_up() for node in nodes))
        until(lambda: all(node.is_in_cluster() for node in nodes))
    assert cluster.call("GET", names[dead.port]) is None


def test_what_is_removed_goes_at_once_from_nodes_that_answer(cluster, nodes):
    """Other processes may read from them. The second removal comes while the breaker is open."""
    names = {node: [b"%s:%d" % (name_on(node), n) for n in range(2)] for node in nodes}
    cluster.run([("SET", name, 1) for some in names.values() for name in some])
    dead, *others = nodes
    dead.kill()

    def remove(items):
        cluster.run([("DEL", name) for name in items])

    try:
        for number in range(2):
            cluster.send(remove, items=[some[number] for some in names.values()])
            assert [node.redis.get(names[node][number]) for node in others] == [None, None]
    finally:
        dead.start()
        until(lambda: all(node.is_up() for node in nodes))
        until(lambda: all(node.is_in_cluster() for node in nodes))
    until(lambda: not cluster._breaker._recovering)


def refuse_writes(node, wanted=1):
    """It wants a replica, and has none."""
    node.say("CONFIG", "SET", "min-replicas-to-write", wanted)


def is_refused(cluster, *names):
    try:
        cluster.run([("GET", name) for name in names])
    except RedisConnectionError:
        return True
    return False


def test_node_that_refuses_writes_is_not_read(cluster, nodes, monkeypatch):
    """It cannot forget what others have taken out. The other nodes can. That these accept writes,
    in the same round trips, says nothing about it."""
    monkeypatch.setattr(Breaker, "trip", lambda _: None)
    names = [name_on(node) for node in nodes]
    cluster.run([("SET", name, 1) for name in names])
    refuse_writes(nodes[1])
    refused_at = began = time.monotonic()
    try:
        while not is_refused(cluster, *names):
            assert began <= refused_at + ACCEPTED_S, "read for too long"
            began = time.monotonic()
        for _ in range(3):
            assert is_refused(cluster, *names)
        assert [cluster.call("GET", name) for name in (names[0], names[2])] == [b"1", b"1"]
    finally:
        refuse_writes(nodes[1], 0)
    assert cluster.run([("GET", name) for name in names]) == [b"1"] * 3


def test_one_node_that_accepts_writes_is_enough_to_go_on(cluster, nodes):
    try:
        for node in nodes[1:]:
            refuse_writes(node)
        cluster.check_accepts()
        refuse_writes(nodes[0])
        with pytest.raises(RedisConnectionError, match="no node"):
            cluster.check_accepts()
    finally:
        for node in nodes:
            refuse_writes(node, 0)
    until(lambda: not is_refused(cluster, name_on(nodes[0])))


def test_purge_walks_every_node_key_by_key(cluster, nodes, settings):
    """Several owners' keys in one command would be refused by a cluster."""
    settings.REDIS_CLUSTER = True
    settings.REDIS_URL = f"redis://127.0.0.1:{nodes[0].port}"
    names = [key("timelines.home:v1", owner) for owner in OWNERS]
    cluster.run([("SET", name, "x") for name in names])
    cluster.run([("SET", key("tests:v1", owner), "x") for owner in OWNERS])
    home = PURGEABLE["timelines.home"]
    steps = [*purge([home], 5, None, dry_run=False)]
    assert {step.position["node"].rstrip("~") for step in steps} == {
        f"127.0.0.1:{node.port}" for node in nodes
    }
    assert sum(step.changed for step in steps) == len(OWNERS)
    assert sum(step.failed for step in steps) == 0
    left = [name for node in nodes for name in node.redis.scan_iter()]
    other = [key("tests:v1", owner).decode() for owner in OWNERS]
    assert sorted(left) == sorted(other)
