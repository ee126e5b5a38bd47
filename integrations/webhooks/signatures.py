"""Signatures of the Standard Webhooks specification.

https://github.com/standard-webhooks/standard-webhooks: `v1,` and the HMAC-SHA256 of id, time and
body in base64. A secret is `whsec_` and 24 to 64 bytes in base64.
"""

import hashlib
import hmac
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable

PREFIX, SECRET_BYTES = "whsec_", 32


def make_secret() -> str:
    """A new random secret."""
    return PREFIX + b64encode(os.urandom(SECRET_BYTES)).decode()


def sign(secrets: Iterable[str], message_id: str, at_s: int, body: bytes) -> dict[str, str]:
    """The headers of a message: its id, its time, and a signature by each secret."""
    signed = b"%b.%d.%b" % (message_id.encode(), at_s, body)
    signatures = (_signature(secret, signed) for secret in secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": " ".join(signatures),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = b64decode(secret.removeprefix(PREFIX))
    return "v1," + b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
