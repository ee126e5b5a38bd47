"""Secrets in rows: encrypted, because the database stores no token and no key in clear.

The key comes from SECRET_KEY and a purpose, so the rows alone open nothing.
"""

from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils.crypto import salted_hmac


def seal(purpose: str, secret: str) -> bytes:
    """The secret as it is stored."""
    return _cipher(purpose, settings.SECRET_KEY).encrypt(secret.encode())


def unseal(purpose: str, sealed: bytes) -> str | None:
    """The secret; None if another SECRET_KEY or purpose sealed it."""
    try:
        return _cipher(purpose, settings.SECRET_KEY).decrypt(sealed).decode()
    except InvalidToken:
        return None


@lru_cache(4)
def _cipher(purpose: str, secret: str) -> Fernet:
    key = salted_hmac(purpose, "token", secret=secret, algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(key))
