"""Keys: the owner in braces, so that a cluster keeps one account's keys together.

The slot of a command is the one that a cluster's nodes compute.

Which slots of a node are emptied before it is used for them.
"""

import pytest
from hiredis import pack_command
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from infra.caching.cluster_slots import ANY_SLOT, slot_of, slot_of_key
from infra.caching.keys import key, keys
from infra.caching.slot_origins import vouch_for


def test_layout():
    assert key("relations.following:v1", 42) == b"relations.following:v1:{42}"
    assert key("posts.week:v1", 42, 7) == b"posts.week:v1:{42}:7"
    assert key("changes.wake_up:v1", "shard0:1") == b"changes.wake_up:v1:{shard0:1}"


def test_many_owners_have_each_their_own():
    owners = [42, 7, 36**6 - 1]
    assert keys("a:v1", owners) == [key("a:v1", owner) for owner in owners]
    assert keys("a:v1", []) == []


def test_keys_of_an_account_share_a_slot():
    names = [key("a:v1", 42), key("b:v2", 42), key("b:v2", 42, 7), key("b:v2", 42, "x")]
    assert len({key_slot(name) for name in names}) == 1


PIECES = st.sampled_from([b"{", b"}", b"{}", b"a", b"12", b"\xff", b"tests.value:v1:"])


@given(st.lists(PIECES, max_size=8).map(b"".join) | st.binary(max_size=40))
def test_slot_of_a_key_is_that_of_redis(key):
    assert slot_of_key(key) == key_slot(key)


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (("GET", b"a:{7}:b"), b"{7}"),
        (("GET", "a:{7}"), b"{7}"),
        (("HMGET", b"{12}", "!", "5"), b"{12}"),
        (("EVALSHA", "sha", 2, b"a{9}", b"b{9}", 1), b"9"),
        (("SCAN", 5, "COUNT", 7), b"5"),
    ],
)
def test_slot_of_a_command_is_that_of_its_key(command, key):
    assert slot_of(command) == key_slot(key)
    assert slot_of(pack_command(command)) == key_slot(key)


@pytest.mark.parametrize("command", [("PING",), ("EVAL", "return 1", 0)])
def test_command_without_a_key_may_go_to_any_node(command):
    assert slot_of(command) == slot_of(pack_command(command)) == ANY_SLOT


class Node:
    """Keeps keys by slot, and the code of one library. `commands`: what it was told to do."""

    def __init__(self, **keys):
        self.keys = {int(slot.removeprefix("slot")): names for slot, names in keys.items()}
        self.code, self.commands = b"", []

    def ask(self, commands):
        return [self._answer(*command) for command in commands]

    def _answer(self, *command):
        match command:
            case ("FUNCTION", "LIST", *_):
                return [[b"library_code", self.code]] if self.code else []
            case ("FUNCTION", "LOAD", "REPLACE", code):
                self.code = code.encode()
            case ("CLUSTER", "GETKEYSINSLOT", slot, _):
                return self.keys.pop(slot, [])
        self.commands.append(command)
        return b"OK"

    def emptied(self, slots):
        self.commands.clear()
        vouch_for(self.ask, 0, slots)
        return [command for command in self.commands if command[0] != "FUNCTION"]


def test_a_node_of_an_unknown_past_is_emptied_as_a_whole_and_once():
    node = Node(slot1=[b"a"])
    assert node.emptied({1, 2, 3}) == [("FLUSHDB", "ASYNC")]
    assert node.emptied({1, 2, 3}) == []
    assert node.commands == []


def test_only_slots_that_arrive_are_emptied():
    node = Node(slot7=[b"a", b"b"], slot9=[])
    node.emptied({1, 2, 5})
    assert node.emptied({1, 2, 5, 7, 9}) == [("UNLINK", b"a", b"b")]


def test_a_slot_that_was_away_is_emptied():
    node = Node()
    node.emptied({1, 2, 5})
    assert node.emptied({1, 2}) == []
    node.keys[5] = [b"old"]
    assert node.emptied({1, 2, 5}) == [("UNLINK", b"old")]


def test_a_refusal_counts_as_away():
    with pytest.raises(RedisConnectionError):
        vouch_for(lambda commands: [ResponseError("no") for _ in commands], 0, {1})
