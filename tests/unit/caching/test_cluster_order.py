"""On a cluster a change is told after it was written, whichever nodes the two are on."""

from infra.caching import cluster
from infra.caching.cluster import ClusterClient

NODES = {b"a": "one", b"b": "two", b"channel": "one"}


class FakeServer:
    def __init__(self, sent):
        self._sent = sent

    def exchange(self, commands):
        self._sent.append(commands)
        return [b"reply to %b" % command[1] for command in commands]


def test_what_is_published_goes_out_when_all_nodes_have_answered_the_writes(monkeypatch):
    sent = []
    client = ClusterClient(lambda: object())
    monkeypatch.setattr(client, "_find_nodes", lambda: None)
    monkeypatch.setattr(client, "_server", lambda cluster, node: FakeServer(sent))
    monkeypatch.setattr(cluster, "_node_of", lambda _, command: NODES[command[1]])
    writes, told = [("SET", b"a"), ("SET", b"b")], ("PUBLISH", b"channel")
    replies = client.run([writes[0], told, writes[1]])
    assert sent == [[writes[0]], [writes[1]], [told]]
    assert replies == [b"reply to a", b"reply to channel", b"reply to b"]
