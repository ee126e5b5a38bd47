"""A server under a connection: it has sent all its replies before it gets a command."""

import socket


class FakeServer:
    """To a server that has sent all its replies before it gets a command."""

    def __init__(self, *replies, hangs_up=False):
        self.server, self._replies, self._hangs_up = None, list(replies), hangs_up

    def open(self):
        self.close()
        sock, self.server = socket.socketpair()
        sock.settimeout(0.05)
        self.server.sendall(self._replies.pop(0))
        if self._hangs_up:
            self.server.shutdown(socket.SHUT_WR)
        return sock

    def close(self):
        if self.server is not None:
            self.server.close()
