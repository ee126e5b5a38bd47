"""Access tokens end with a tag: a keyed hash of the rest, which only this site can make.

So this site recognizes its own tokens without a query. A tag proves no right: the database still
decides what a token allows.
"""

import secrets
from base64 import urlsafe_b64encode
from typing import Any

from django.utils.crypto import constant_time_compare, salted_hmac

_RANDOM_BYTES = 32
_TAG_CHARACTERS = 16
_SALT = "accounts.token_tags"


def generate_token(request: Any = None, refresh_token: bool = False) -> str:
    """A new token of 59 characters. The parameters are those of the toolkit's generators."""
    head = secrets.token_urlsafe(_RANDOM_BYTES)
    return head + _tag(head)


def is_tagged(token: str) -> bool:
    """Whether this site made the token. False for tokens of releases before the tag, and after a
    change of SECRET_KEY.
    """
    head, tag = token[:-_TAG_CHARACTERS], token[-_TAG_CHARACTERS:]
    return constant_time_compare(tag, _tag(head))


def _tag(head: str) -> str:
    digest = salted_hmac(_SALT, head, algorithm="sha256").digest()
    return urlsafe_b64encode(digest).decode()[:_TAG_CHARACTERS]
