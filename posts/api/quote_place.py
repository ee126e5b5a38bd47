"""The places of what a fragment cannot say of quotes, because it differs by viewer and by moment.

A quoted post may be deleted, hidden or closed to a viewer at any time, so a fragment has only its
id. The answer gets the post (live_quotes.py), as it gets polls:

    "quote":"<mark>002821109910051"              of a post that quotes another one
    "quote_approval":"<mark>002821109910051"     of a post that only followers may quote

Most posts may be quoted by all accounts, and quote nothing. Their fragments need no filling: what
guests and the author of a post see is put in when the post is presented (`for_viewer`).
"""

import re
from collections.abc import Mapping

from posts.ids import PostId
from posts.types import PostRow, QuotePolicy, Visibility

_MARK = "\U00100000"
# Text that people write has no unescaped quotes, so it cannot look like these.
QUOTE = re.compile(rb'(?<="quote":)"%b(\d+)"' % _MARK.encode())
APPROVAL = re.compile(rb'(?<="quote_approval":)"%b(\d+)"' % _MARK.encode())
# Only characters for private use begin with it.
FIRST_BYTE = _MARK.encode()[:1]
Approval = Mapping[str, object]
REVOKED = {"state": "revoked", "quoted_status": None}
_NOT_OTHERS: Approval = {"automatic": [], "manual": [], "current_user": "denied"}
_OPEN: Approval = {"automatic": ["public"], "manual": [], "current_user": "automatic"}
_IS_ALLOWED = b'"current_user":"automatic"'
_IS_DENIED = b'"current_user":"denied"'
_IS_DIRECT = b'"visibility":"direct"'


def quote_of(row: PostRow) -> str | Approval | None:
    """The field `quote` of a fragment."""
    if row.quoted is None:
        return None
    return REVOKED if row.is_quote_revoked else _MARK + row.quoted.public


def approval_of(row: PostRow, is_repost: bool) -> str | Approval:
    """The field `quote_approval` of a fragment. A repost has that of no post: see its original."""
    if is_repost or row.visibility >= Visibility.PRIVATE or row.quote_policy == QuotePolicy.NOBODY:
        return _NOT_OTHERS
    if row.quote_policy == QuotePolicy.PUBLIC:
        return _OPEN
    return f"{_MARK}{PostId.at(row.author_id, row.moment).public}"


def find_quoted(fragment: bytes) -> PostId | None:
    """The post that a post quotes, from its fragment; None after its author revoked that."""
    match = QUOTE.search(fragment) if FIRST_BYTE in fragment else None
    return PostId.from_public(match[1].decode()) if match else None


def find_policy(fragment: bytes) -> QuotePolicy:
    """Which accounts may quote the post of this fragment or Status entity, besides its author."""
    if FIRST_BYTE in fragment and APPROVAL.search(fragment):
        return QuotePolicy.FOLLOWERS
    return QuotePolicy.NOBODY if _IS_DENIED in fragment else QuotePolicy.PUBLIC


def present_approval(may_quote: bool) -> Approval:
    """The QuoteApproval at a place: of a post that only followers may quote."""
    word = "automatic" if may_quote else "denied"
    return {"automatic": ["followers"], "manual": [], "current_user": word}


def for_viewer(status: bytes, viewer_id: int | None, author_id: int) -> bytes:
    """The Status entity of a post that is no repost, as `present_status` makes it.

    A guest can quote nothing, and an author all own posts but direct ones.
    """
    if viewer_id is None:
        return status.replace(_IS_ALLOWED, _IS_DENIED)
    if viewer_id != author_id or _IS_DIRECT in status:
        return status
    return status.replace(_IS_DENIED, _IS_ALLOWED)
