"""The keys of a receiver, which clients send in base64 of either alphabet, with padding or not."""

import binascii
from base64 import urlsafe_b64decode

from cryptography.hazmat.primitives.asymmetric import ec

SECRET_BYTES = 16


def decode_key(text: str) -> bytes:
    """The bytes. Raises: ValueError."""
    standard = text.translate(str.maketrans("+/", "-_")).rstrip("=")
    try:
        return urlsafe_b64decode(standard + "=" * (-len(standard) % 4))
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def is_public_key(text: str) -> bool:
    """Whether this is a point of the curve P-256."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode_key(text))
    except ValueError:
        return False
    return True


def is_secret(text: str) -> bool:
    """Whether this can be the shared secret."""
    try:
        return len(decode_key(text)) == SECRET_BYTES
    except ValueError:
        return False
