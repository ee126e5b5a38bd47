"""The proxy of the harness passes bytes, holds them back and cuts connections."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from lab.faults.cluster.child_with_orders import obeying
from lab.faults.cluster.links import Links, linked
from lab.runner.port import HOST


@pytest.fixture
def links(tmp_path: Path) -> Iterator[Links]:
    """One link to a server that sends everything back."""
    path = str(tmp_path / "echo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        threading.Thread(target=echo, args=(server,), daemon=True).start()
        with linked({"web0:shard1": f"unix://{path}"}) as links:
            yield links
        server.shutdown(socket.SHUT_RDWR)


def echo(server: socket.socket) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=send_back, args=(client,), daemon=True).start()


def send_back(client: socket.socket) -> None:
    with client, suppress(ConnectionResetError):
        while data := client.recv(1000):
            client.sendall(data)


def connected(links: Links) -> socket.socket:
    return socket.create_connection((HOST, links.ports["web0:shard1"]), 30)


def test_open_link_passes_bytes_both_ways(links):
    with connected(links) as client:
        client.sendall(b"one")
        assert client.recv(10) == b"one"


def test_stalled_link_holds_everything_back_until_it_opens(links):
    with connected(links) as old:
        old.sendall(b"one")
        assert old.recv(10) == b"one"
        assert links.stall("*:shard1") == 2
        old.sendall(b"two")
        with connected(links) as new:
            new.sendall(b"three")
            for client in (old, new):
                client.settimeout(0.2)
                with pytest.raises(TimeoutError):
                    client.recv(10)
                client.settimeout(30)
            links.open()
            assert (old.recv(10), new.recv(10)) == (b"two", b"three")


def test_link_passes_the_last_words_and_then_nothing(links):
    with connected(links) as old:
        links.open_until("web0:*", "go")
        old.sendall(b"one")
        assert old.recv(10) == b"one"
        old.settimeout(0.2)
        old.sendall(b"go!")
        with pytest.raises(TimeoutError):
            old.recv(10)
        links.reset()
        assert is_reset(old)
    with connected(links) as new:
        new.sendall(b"two")
        assert new.recv(10) == b"two"


def test_cut_link_resets_connections(links):
    with connected(links) as old:
        old.sendall(b"one")
        assert old.recv(10) == b"one"
        assert links.cut("web0:*") == 2
        assert is_reset(old)
        with connected(links) as new:
            assert is_reset(new)
        links.open()
        with connected(links) as third:
            third.sendall(b"four")
            assert third.recv(10) == b"four"


def is_reset(client: socket.socket) -> bool:
    try:
        return client.recv(10) == b""
    except ConnectionResetError:
        return True


def test_nodes_are_cut_off_by_the_address_they_come_from() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server((HOST, 0)))
        threading.Thread(target=echo, args=(server,), daemon=True).start()
        proxy = stack.enter_context(obeying("lab.faults.proxy"))
        target = server.getsockname()[1]
        place = HOST, proxy.ask({"bus": target})
        cut, other = (
            stack.enter_context(socket.create_connection(place, 30, (f"127.0.1.{number}", 0)))
            for number in (1, 2)
        )
        for peer in (cut, other):
            peer.sendall(b"one")
            assert peer.recv(10) == b"one"
        assert proxy.ask({"match": f"127.0.1.1>{target}", "mode": "cut"}) == 2
        assert is_reset(cut)
        other.sendall(b"two")
        assert other.recv(10) == b"two"
        server.shutdown(socket.SHUT_RDWR)
