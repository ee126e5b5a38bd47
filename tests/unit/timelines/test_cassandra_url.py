"""CASSANDRA_URL: what it says, and that a fault never shows it."""

import pytest

from timelines.stores.cassandra_url import CassandraServers, cassandra_servers


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        (
            "cassandra://node/feed?datacenter=dc1",
            CassandraServers(("node",), 9042, "feed", "dc1", "", ""),
        ),
        (
            "cassandra://me:p%40ss%3A@10.0.0.1:9999,10.0.0.2:9999/feed_2?datacenter=eu%20west",
            CassandraServers(("10.0.0.1", "10.0.0.2"), 9999, "feed_2", "eu west", "me", "p@ss:"),
        ),
        (
            "cassandra://[::1]:9042,node-2.example/feed?datacenter=dc1",
            CassandraServers(("::1", "node-2.example"), 9042, "feed", "dc1", "", ""),
        ),
    ],
)
def test_what_a_url_says(url: str, servers: CassandraServers) -> None:
    assert cassandra_servers(url) == servers


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://node/feed?datacenter=dc1",
        "cassandra://me:secret@node/feed",
        "cassandra://me:secret@node/?datacenter=dc1",
        "cassandra://me:secret@node/feed;?datacenter=dc1",
        "cassandra://me:sec/ret@node/feed?datacenter=dc1",
        "cassandra://me:sec@ret@node/feed?datacenter=dc1",
        "cassandra://me@node/feed?datacenter=dc1",
        "cassandra://node,/feed?datacenter=dc1",
        "cassandra://node:90420000/feed?datacenter=dc1",
        "cassandra://node/feed?datacenter=dc1&secret=1",
        "cassandra://node:1,other:2/feed?datacenter=dc1",
        "cassandra://node:99999/feed?datacenter=dc1",
    ],
)
def test_what_is_no_url_of_cassandra(url: str) -> None:
    with pytest.raises(ValueError, match=r"Cassandra|cassandra://user") as raised:
        cassandra_servers(url)
    assert "sec" not in str(raised.value)
