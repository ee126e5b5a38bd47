"""The public keys of issuers: from their rows, or from the addresses that the rows name.

A process keeps the keys of an address. It reads them again when they are old, and when a JWT names
a key that it does not know, so that an issuer may rotate its keys at any time.
"""

import threading
import time
from functools import cache
from http.client import HTTPException

import orjson
import structlog
from jwcrypto.common import JWException
from jwcrypto.jwk import JWKSet

from accounts.identities.errors import KeysUnreadable
from accounts.identities.models import TrustedIssuer
from infra.outgoing.addresses import ForbiddenAddress
from infra.outgoing.requests import get

FETCH_S, MOST_BYTES = 3.0, 256 * 1024
# Read again after FRESH_S; used for KEPT_S while they cannot be read.
FRESH_S, KEPT_S = 600.0, 86_400.0
# Anyone may send a JWT with an unknown key: it must not make us ask the issuer each time.
RETRY_S = 10.0
# For another thread that reads them: an address that hangs must not hold all threads.
WAIT_S = 0.5
log = structlog.get_logger()


class RemoteKeys:
    """The keys at one address. Thread-safe."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._reading = threading.Lock()
        self._keys: JWKSet | None = None
        self._read_at = self._tried_at = float("-inf")

    def find(self, key_id: str | None) -> JWKSet:
        """All keys. They are read before if that may bring the one with this id.

        Raises: KeysUnreadable. Cost: none, or one request of at most FETCH_S.
        """
        if self._must_read(key_id) and self._reading.acquire(timeout=WAIT_S):
            try:
                if self._must_read(key_id):
                    self._read()
            finally:
                self._reading.release()
        if self._keys is None or time.monotonic() - self._read_at > KEPT_S:
            raise KeysUnreadable
        return self._keys

    def _must_read(self, key_id: str | None) -> bool:
        now = time.monotonic()
        if now - self._tried_at < RETRY_S:
            return False
        is_known = self._keys is not None and (not key_id or self._keys.get_key(key_id))
        return not is_known or now - self._read_at > FRESH_S

    def _read(self) -> None:
        self._tried_at = time.monotonic()
        try:
            self._keys = parse_keys(get(self._url, FETCH_S, MOST_BYTES))
            self._read_at = self._tried_at
        except (ForbiddenAddress, OSError, HTTPException, ValueError) as error:
            log.warning("issuer_keys.not_read", url=self._url, error=repr(error))


@cache
def keys_at(url: str) -> RemoteKeys:
    """Those of this process. Only operators choose addresses, so they are few."""
    return RemoteKeys(url)


def keys_of(issuer: TrustedIssuer, key_id: str | None) -> JWKSet:
    """Raises: KeysUnreadable."""
    if issuer.keys is not None:
        return parse_keys(orjson.dumps(issuer.keys))
    return keys_at(issuer.keys_url).find(key_id)


def parse_keys(text: bytes | str) -> JWKSet:
    """A JWK set (RFC 7517) with at least one key, and public ones only. Raises: ValueError."""
    try:
        keys = JWKSet.from_json(text)
    except (JWException, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from None
    members = list(keys["keys"])
    if not members or not all(key.has_public and not key.has_private for key in members):
        raise ValueError("not a JWK set of public keys")
    return keys
