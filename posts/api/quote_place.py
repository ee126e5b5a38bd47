"""The places of quoted posts in fragments.

A quoted post may be deleted, hidden or closed to a viewer at any time, so a fragment has only its
id. The answer gets the post (live_quotes.py), as it gets polls:

    "quote":"<mark>002821109910051"
"""

import re
from collections.abc import Mapping

from posts.ids import PostId
from posts.types import PostRow

_MARK = "\U00100000"
# Text that people write has no unescaped quotes, so it cannot look like this.
QUOTE = re.compile(rb'(?<="quote":)"%b(\d+)"' % _MARK.encode())
# Only characters for private use begin with it.
FIRST_BYTE = _MARK.encode()[:1]
REVOKED = {"state": "revoked", "quoted_status": None}


def quote_of(row: PostRow) -> str | Mapping[str, object] | None:
    """The field `quote` of a fragment."""
    if row.quoted is None:
        return None
    return REVOKED if row.is_quote_revoked else _MARK + row.quoted.public


def find_quoted(fragment: bytes) -> PostId | None:
    """The post that a post quotes, from its fragment; None after its author revoked that."""
    match = QUOTE.search(fragment) if FIRST_BYTE in fragment else None
    return PostId.from_public(match[1].decode()) if match else None
