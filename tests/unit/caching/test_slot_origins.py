"""Which slots of a node are emptied before it is used for them."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from infra.caching.slot_origins import vouch_for


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
