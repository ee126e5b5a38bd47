"""Keys: the owner in braces, so that a cluster keeps one account's keys together."""

from redis.crc import key_slot

from infra.caching.keys import key, keys


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
