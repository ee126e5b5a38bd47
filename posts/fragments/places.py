"""Places in the fragment of a post, for what changes too often or depends on who reads.

A place is a mark and the post's id. The answer gets the part (posts/api/live_parts.py), so a vote
or a follow changes no fragment and no remembered page.

    "quote":"<mark>002821109910051"            a quoted post: deleted, hidden or closed at any time
    "poll":"<mark>002821109910051\\nred\\nblue"   a poll, with its options, which filters search
    "quote_approval":"<mark>002821109910051"   who may quote: followers
    "mentions":[...],"reply_approval":"<mark>1002821109910051"      who may reply: 1, a ReplyPolicy

Most posts let everybody quote and reply. What guests and the author may is put in when the post is
presented (`for_viewer`). A reply is also for the accounts that the post mentions.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from infra.api.sealed_json import seal
from posts.ids import PostId
from posts.types import STATUS, PostRow, QuotePolicy, ReplyPolicy, Visibility

_QUOTE, _POLL, _APPROVAL = "\U00100000", "\ue000", "\U000f0000"
# Characters for private use. One byte, because searching a page for one byte costs a twentieth of
# searching it for two.
QUOTE_BYTE, POLL_BYTE, APPROVAL_BYTE = (mark.encode()[:1] for mark in (_QUOTE, _POLL, _APPROVAL))
# Text that people write has no unescaped quotes, so it cannot look like these.
QUOTE = re.compile(rb'(?<="quote":)"%b(\d+)"' % _QUOTE.encode())
POLL = re.compile(rb'(?<="poll":)"%b(\d+)(?:[^"\\]|\\.)*"' % _POLL.encode())
QUOTING = re.compile(rb'(?<="quote_approval":)"%b(\d+)"' % _APPROVAL.encode())
REPLYING = re.compile(
    rb'"mentions":\[([^\]]*)\],"reply_approval":"%b([123])(\d+)"' % _APPROVAL.encode()
)
REVOKED = {"state": "revoked", "quoted_status": None}
Approval = Mapping[str, object]
# Both fields, with the mentions that the second one needs.
_APPROVALS = re.compile(
    rb'"mentions":\[[^\]]*\],"reply_approval":(?:"[^"]*"|\{[^}]*\})'
    rb'|"quote_approval":(?:"[^"]*"|\{[^}]*\})'
)
_NOT_OTHERS: Approval = {"automatic": [], "manual": [], "current_user": "denied"}
_OPEN: Approval = {"automatic": ["public"], "manual": [], "current_user": "automatic"}
_IS_ALLOWED = b'"current_user":"automatic"'
_IS_DENIED = b'"current_user":"denied"'
_NO_QUOTES = b'"quote_approval":{"automatic":[],'
_NO_REPLIES = b'"reply_approval":{"automatic":[],'
_IS_DIRECT = b'"visibility":"direct"'
_MENTIONED = ReplyPolicy.MENTIONED.public
_BETWEEN = "\n"


def quote_of(row: PostRow) -> str | Mapping[str, object] | None:
    """The field `quote` of a fragment."""
    if row.quoted is None:
        return None
    return REVOKED if row.is_quote_revoked else _QUOTE + row.quoted.public


def find_quoted(fragment: bytes) -> PostId | None:
    """The post that a post quotes, from its fragment; None after its author revoked that."""
    match = QUOTE.search(fragment) if QUOTE_BYTE in fragment else None
    return PostId.from_public(match[1].decode()) if match else None


def poll_of(post_id: str, poll: Mapping[str, Any]) -> str:
    """The field `poll` of a fragment. `post_id`: public."""
    return _POLL + _BETWEEN.join((post_id, *poll["options"]))


def options_at(place: str | None) -> Sequence[str]:
    """The options of the poll with this place; none for a post without a poll."""
    return place.split(_BETWEEN)[1:] if place else ()


def own_data_of(row: PostRow) -> Mapping[str, str]:
    """The fields `type` and `custom` of a fragment. None for a status without custom."""
    if row.post_type is None and row.custom is None:
        return {}
    fields = {"type": row.post_type or STATUS}
    return fields if row.custom is None else {**fields, "custom": seal(row.custom)}


def quote_approval_of(row: PostRow, is_repost: bool) -> str | Approval:
    """The field `quote_approval` of a fragment. Who reads a repost gets that of its original."""
    if is_repost or row.visibility >= Visibility.PRIVATE or row.quote_policy == QuotePolicy.NOBODY:
        return _NOT_OTHERS
    if row.quote_policy == QuotePolicy.PUBLIC:
        return _OPEN
    return f"{_APPROVAL}{PostId.at(row.author_id, row.moment).public}"


def reply_approval_of(row: PostRow, is_repost: bool) -> str | Approval:
    """The field `reply_approval` of a fragment, which comes after `mentions`."""
    if row.visibility == Visibility.DIRECT or row.reply_policy == ReplyPolicy.PUBLIC:
        return _NOT_OTHERS if is_repost else _OPEN
    if is_repost or row.reply_policy == ReplyPolicy.NOBODY:
        return _NOT_OTHERS
    return f"{_APPROVAL}{row.reply_policy}{PostId.at(row.author_id, row.moment).public}"


def with_approvals_of(original: bytes, repost: bytes) -> bytes:
    """The fragment of a repost with the fields of its original, a Status entity without a quoted
    post: who quotes a repost, or replies to it, does so to the original."""
    fields = iter(_APPROVALS.findall(original))
    return _APPROVALS.sub(lambda _: next(fields), repost)


def find_quote_policy(fragment: bytes) -> QuotePolicy:
    """Which accounts may quote the post of this fragment or Status entity, besides its author."""
    if APPROVAL_BYTE in fragment and QUOTING.search(fragment):
        return QuotePolicy.FOLLOWERS
    return QuotePolicy.NOBODY if _NO_QUOTES in fragment else QuotePolicy.PUBLIC


def find_reply_policy(fragment: bytes) -> ReplyPolicy:
    """The same of replies."""
    match = REPLYING.search(fragment) if APPROVAL_BYTE in fragment else None
    if match:
        return ReplyPolicy(int(match[2]))
    return ReplyPolicy.NOBODY if _NO_REPLIES in fragment else ReplyPolicy.PUBLIC


def present_quoting(may_quote: bool) -> Approval:
    """The field at a place: of a post that only followers may quote."""
    return _present_approval([QuotePolicy.FOLLOWERS.public], may_quote)


def present_replying(policy: ReplyPolicy, may_reply: bool) -> Approval:
    """The field at a place: of a post to which only some may reply."""
    return _present_approval(list(dict.fromkeys([policy.public, _MENTIONED])), may_reply)


def _present_approval(names: list[str], is_allowed: bool) -> Approval:
    word = "automatic" if is_allowed else "denied"
    return {"automatic": names, "manual": [], "current_user": word}


def for_viewer(status: bytes, viewer_id: int | None, author_id: int) -> bytes:
    """The Status entity of a post that is no repost, as `present_status` makes it.

    A guest can neither quote nor reply, and an author all own posts; but quotes no direct ones.
    """
    if viewer_id is None:
        return status.replace(_IS_ALLOWED, _IS_DENIED)
    if viewer_id != author_id or _IS_DIRECT in status:
        return status
    return status.replace(_IS_DENIED, _IS_ALLOWED)
