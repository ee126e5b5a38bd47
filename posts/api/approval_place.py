"""Who may quote a post and who may reply to it, as its Status entity says.

Most posts let everybody. What guests and the author may is put in when the post is presented
(`for_viewer`). A policy that depends on the viewer is a mark in the fragment, which the answer gets
replaced (live_approvals.py). A reply to a post is also for the accounts that the post mentions.

    "quote_approval":"<mark>002821109910051"                        for followers
    "mentions":[...],"reply_approval":"<mark>1002821109910051"      1: a ReplyPolicy
"""

import re
from collections.abc import Mapping

from posts.ids import PostId
from posts.types import PostRow, QuotePolicy, ReplyPolicy, Visibility

_MARK = "\U000f0000"
# Only characters for private use begin with it.
FIRST_BYTE = _MARK.encode()[:1]
# Text that people write has no unescaped quotes, so it cannot look like these.
QUOTING = re.compile(rb'(?<="quote_approval":)"%b(\d+)"' % _MARK.encode())
REPLYING = re.compile(
    rb'"mentions":\[([^\]]*)\],"reply_approval":"%b([123])(\d+)"' % _MARK.encode()
)
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


def quote_approval_of(row: PostRow, is_repost: bool) -> str | Approval:
    """The field `quote_approval` of a fragment. Who reads a repost gets that of its original."""
    if is_repost or row.visibility >= Visibility.PRIVATE or row.quote_policy == QuotePolicy.NOBODY:
        return _NOT_OTHERS
    if row.quote_policy == QuotePolicy.PUBLIC:
        return _OPEN
    return f"{_MARK}{PostId.at(row.author_id, row.moment).public}"


def reply_approval_of(row: PostRow, is_repost: bool) -> str | Approval:
    """The field `reply_approval` of a fragment, which comes after `mentions`."""
    if row.visibility == Visibility.DIRECT or row.reply_policy == ReplyPolicy.PUBLIC:
        return _NOT_OTHERS if is_repost else _OPEN
    if is_repost or row.reply_policy == ReplyPolicy.NOBODY:
        return _NOT_OTHERS
    return f"{_MARK}{row.reply_policy}{PostId.at(row.author_id, row.moment).public}"


def with_approvals_of(original: bytes, repost: bytes) -> bytes:
    """The fragment of a repost with the fields of its original, a Status entity without a quoted
    post: who quotes a repost, or replies to it, does so to the original."""
    fields = iter(_APPROVALS.findall(original))
    return _APPROVALS.sub(lambda _: next(fields), repost)


def find_quote_policy(fragment: bytes) -> QuotePolicy:
    """Which accounts may quote the post of this fragment or Status entity, besides its author."""
    if FIRST_BYTE in fragment and QUOTING.search(fragment):
        return QuotePolicy.FOLLOWERS
    return QuotePolicy.NOBODY if _NO_QUOTES in fragment else QuotePolicy.PUBLIC


def find_reply_policy(fragment: bytes) -> ReplyPolicy:
    """The same of replies."""
    match = REPLYING.search(fragment) if FIRST_BYTE in fragment else None
    if match:
        return ReplyPolicy(int(match[2]))
    return ReplyPolicy.NOBODY if _NO_REPLIES in fragment else ReplyPolicy.PUBLIC


def present_quoting(may_quote: bool) -> Approval:
    """The field at a place: of a post that only followers may quote."""
    return _present([QuotePolicy.FOLLOWERS.public], may_quote)


def present_replying(policy: ReplyPolicy, may_reply: bool) -> Approval:
    """The field at a place: of a post to which only some may reply."""
    return _present(list(dict.fromkeys([policy.public, _MENTIONED])), may_reply)


def _present(names: list[str], is_allowed: bool) -> Approval:
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
