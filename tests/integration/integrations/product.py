"""A product with people of its own: it signs JWTs, and serves its public keys over HTTP."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import orjson
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from accounts.identities.actions.trust_issuer import trust_issuer
from accounts.identities.types import NewIssuer

ISSUER, SITE = "https://product.example", "http://localhost:8000"
SHAPES: dict[str, dict[str, Any]] = {
    "ES256": {"kty": "EC", "crv": "P-256"},
    "RS256": {"kty": "RSA", "size": 2048},
    "EdDSA": {"kty": "OKP", "crv": "Ed25519"},
    "HS256": {"kty": "oct", "size": 256},
}


class Product:
    """`keys`: private ones, the newest last, which signs."""

    def __init__(self, issuer: str = ISSUER) -> None:
        self.issuer = issuer
        self.keys = [new_key()]

    def rotate(self) -> None:
        self.keys.append(new_key())

    @property
    def jwk_set(self) -> str:
        public = [key.export_public(as_dict=True) for key in self.keys]
        return orjson.dumps({"keys": public}).decode()

    def sign(self, subject: str, header: Any = None, key: JWK | None = None, **claims: Any) -> str:
        """A JWT of one minute. A claim that is None is left out."""
        now, key = int(time.time()), key or self.keys[-1]
        body = {
            "iss": self.issuer,
            "sub": subject,
            "aud": SITE,
            "iat": now,
            "exp": now + 60,
            "jti": str(uuid4()),
        } | claims
        sent = {name: value for name, value in body.items() if value is not None}
        token = JWT({"alg": "ES256", "kid": key["kid"]} | (header or {}), sent)
        token.make_signed_token(key)
        return str(token.serialize())

    def trust(self, **options: Any) -> Any:
        values = {
            "name": "Product",
            "issuer": self.issuer,
            "audience": "",
            "algorithms": ["ES256"],
            "keys": self.jwk_set,
            "keys_url": "",
            "has_own_ids": True,
            "may_create": False,
            "scopes": ["read", "write"],
        }
        return trust_issuer(NewIssuer(**values | options))


def new_key(algorithm: str = "ES256") -> JWK:
    return JWK.generate(**SHAPES[algorithm], kid=str(uuid4()))


class KeyServer:
    """Serves what `document` returns. `asked`: how often."""

    def __init__(self, url: str) -> None:
        self.url, self.asked, self.status = url, 0, 200
        self.document = b""


@contextmanager
def key_server() -> Iterator[KeyServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked += 1
            self.send_response(served.status)
            self.send_header("Content-Length", str(len(served.document)))
            self.end_headers()
            self.wfile.write(served.document)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    served = KeyServer(f"http://localhost:{server.server_port}/keys")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
