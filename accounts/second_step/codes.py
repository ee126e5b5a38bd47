"""The texts of codes: what people type, what recovery codes look like, and how they are stored."""

import re
import secrets
from base64 import b32encode
from hashlib import sha256

CODES = 10
# 80 random bits, so that a plain checksum is safe to store.
_CODE_BYTES = 10
# As the column of django-otp: 80 bits of the checksum.
_STORED_CHARACTERS = 16
_GROUP = 4
_APP_DIGITS = 6
_NO_CHARACTER = re.compile(r"[\s-]+")


def clean_code(text: str) -> str:
    """Without the spaces and hyphens that people read codes with."""
    return _NO_CHARACTER.sub("", text).lower()


def is_of_app(code: str) -> bool:
    return len(code) == _APP_DIGITS and code.isascii() and code.isdigit()


def new_recovery_codes() -> list[str]:
    """CODES random ones, as people see them: `abcd-efgh-ijkl-mnop`."""
    return [_in_groups(_base32(secrets.token_bytes(_CODE_BYTES))) for _ in range(CODES)]


def stored_code(code: str) -> str:
    """The checksum that the database has. Who reads the database learns no code."""
    return _base32(sha256(clean_code(code).encode()).digest())[:_STORED_CHARACTERS]


def _base32(value: bytes) -> str:
    return b32encode(value).decode().lower()


def _in_groups(text: str) -> str:
    return "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))
