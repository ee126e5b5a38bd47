"""Access tokens in rows of subscriptions: encrypted, because the database stores no token.

Clients need the token in each message, to know which of their accounts it is for. The key comes
from SECRET_KEY, so the rows alone open nothing.
"""

from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils.crypto import salted_hmac

_SALT = "notifications.push"


def seal(token: str) -> bytes:
    """The token as it is stored."""
    return _cipher(settings.SECRET_KEY).encrypt(token.encode())


def unseal(sealed: bytes) -> str | None:
    """The token; None if another SECRET_KEY sealed it."""
    try:
        return _cipher(settings.SECRET_KEY).decrypt(sealed).decode()
    except InvalidToken:
        return None


@lru_cache(1)
def _cipher(secret: str) -> Fernet:
    key = salted_hmac(_SALT, "token", secret=secret, algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(key))
