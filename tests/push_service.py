"""A push service on this machine, and a device that reads its messages."""

import os
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import http_ece
import orjson
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

from notifications.push.message import decode_key


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class PushService:
    """`status`: what it answers. `waits`: it answers only when this event is set."""

    def __init__(self, port: int) -> None:
        self.url = f"http://localhost:{port}"
        self.received: list[Received] = []
        self.status = 201
        self.waits = threading.Event()
        self.waits.set()


class Device:
    """A browser with a subscription."""

    def __init__(self) -> None:
        self._key, self._secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)

    def keys(self) -> dict[str, str]:
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"p256dh": encode(point), "auth": encode(self._secret)}

    def read(self, one: Received) -> Any:
        """The message, decrypted as browsers do; the sender is the site."""
        version = one.headers["Content-Encoding"]
        options: dict[str, Any] = {}
        if version == "aesgcm":
            fields = dict(part.split("=", 1) for part in one.headers["Crypto-Key"].split(";"))
            salt = decode_key(one.headers["Encryption"].removeprefix("salt="))
            options = {"salt": salt, "dh": decode_key(fields["dh"])}
        else:
            assert Vapid02.verify(one.headers["Authorization"])
        text = http_ece.decrypt(
            one.body, private_key=self._key, auth_secret=self._secret, version=version, **options
        )
        return orjson.loads(text)


def encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


@contextmanager
def push_service() -> Iterator[PushService]:
    """A service until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = self.rfile.read(length)
            if len(body) < length:
                self.close_connection = True  # the sender was killed: no receiver takes a half
                return
            service.received.append(Received(self.path, dict(self.headers), body))
            service.waits.wait(30)
            self.send_response(service.status)
            self.send_header("Location", f"{service.url}/elsewhere")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    service = PushService(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.waits.set()
        server.shutdown()
        thread.join()
        server.server_close()
