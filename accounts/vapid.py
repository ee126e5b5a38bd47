"""The key that names this site to push services (VAPID, RFC 8292)."""

from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from py_vapid import Vapid02


@lru_cache(1)
def vapid_of(private_key: str) -> Vapid02:
    """Signs requests to push services. `private_key`: 32 bytes in base64."""
    return Vapid02.from_raw(private_key.encode())


def vapid_public_key() -> str:
    """The public key in base64, for browsers; empty if Web Push is off."""
    if not settings.VAPID_PRIVATE_KEY:
        return ""
    key = vapid_of(settings.VAPID_PRIVATE_KEY).public_key
    point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return urlsafe_b64encode(point).decode()
