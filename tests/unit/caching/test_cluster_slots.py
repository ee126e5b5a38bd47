"""The slot of a command is the one that a cluster's nodes compute."""

import pytest
from hiredis import pack_command
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot

from infra.caching.cluster_slots import ANY_SLOT, slot_of, slot_of_key

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
