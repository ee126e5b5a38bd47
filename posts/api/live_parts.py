"""Puts into answers what fragments have only places of (posts/fragments/places.py): quoted posts,
polls, and what the viewer may. Answers without them pay nothing.

All quoted posts of an answer are loaded together, through the caches of posts. Those that they
quote themselves are named only (Mastodon's ShallowQuote), which costs one more load.
"""

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import orjson

from infra.api.live_parts import Fill
from infra.clock import now_ms
from posts.fragments.places import (
    APPROVAL_BYTE,
    POLL,
    POLL_BYTE,
    QUOTE,
    QUOTE_BYTE,
    QUOTING,
    REPLYING,
    REVOKED,
    find_quoted,
    present_quoting,
    present_replying,
)
from posts.ids import PostId
from posts.queries.polls import load_polls
from posts.reading.statuses import MOST_AT_ONCE
from posts.reading.viewing import ViewedPosts, view_posts
from posts.rules import may_reply
from posts.types import ReplyPolicy
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED, Relationship
from relations.visibility import Hiding, Surface, find_hiding

T = TypeVar("T")
ByAuthor = Mapping[int, Relationship]
ACCEPTED = "accepted"
_REVOKED = b'"quote":%b' % orjson.dumps(REVOKED)
_REVOKED_IN_QUOTED = b'"quote":%b' % orjson.dumps({"state": "revoked", "quoted_status_id": None})


class SeenQuote(NamedTuple):
    """How a viewer sees a quoted post. `status`: its entity, if the viewer may see it."""

    state: str
    status: bytes | None = None


def fill_quotes(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with its quotes; the same bytes without any.

    Cost: one round trip and no SQL when warm, two if quoted posts quote.
    """
    quoted = {PostId.from_public(match[1].decode()) for match in QUOTE.finditer(body)}
    if not quoted:
        return body
    return QUOTE.sub(partial(_present_quote, _load_whole(quoted, viewer_id)), body)


def see_quotes(ids: Collection[PostId], viewer_id: int | None) -> dict[PostId, SeenQuote]:
    """The quoted posts as the viewer sees them. Cost: as `view_posts`, for every MOST_AT_ONCE."""
    seen: dict[PostId, SeenQuote] = {}
    for part in _parts(ids):
        viewed, at_ms = view_posts({post_id: post_id for post_id in part}, viewer_id), now_ms()
        seen |= {post_id: _see(viewed, post_id, at_ms) for post_id in part}
    return seen


def _parts(ids: Collection[T]) -> Iterator[Sequence[T]]:
    """Relationships are asked of so many at once."""
    every = list(ids)
    return (every[start : start + MOST_AT_ONCE] for start in range(0, len(every), MOST_AT_ONCE))


def _see(viewed: ViewedPosts, post_id: PostId, at_ms: int) -> SeenQuote:
    """A block or a mute of the viewer has a state of its own. A block by the author has none: it is
    a secret."""
    if post_id not in viewed.hydrated.fragments:
        return SeenQuote("deleted")
    relationship = viewed.relationships.get(post_id.author_id, UNRELATED)
    hiding = find_hiding(Surface.BROUGHT, relationship, at_ms)
    if hiding & Hiding.BLOCKED:
        return SeenQuote("blocked_account")
    if not viewed.allows(post_id, post_id):
        return SeenQuote("unauthorized")
    if hiding:
        return SeenQuote("muted_account")
    return SeenQuote(ACCEPTED, viewed.present(post_id, post_id))


def _load_whole(ids: Collection[PostId], viewer_id: int | None) -> dict[bytes, bytes]:
    """Quote entities, by the public id of the quoted post."""
    seen = see_quotes(ids, viewer_id)
    statuses = [quote.status for quote in seen.values() if quote.status]
    inner = {post_id for status in statuses if (post_id := find_quoted(status))}
    named = _load_shallow(inner, viewer_id) if inner else {}
    return {
        post_id.public.encode(): _quote(quote, b"quoted_status", _with_shallow(quote.status, named))
        for post_id, quote in seen.items()
    }


def _load_shallow(ids: Collection[PostId], viewer_id: int | None) -> dict[bytes, bytes]:
    """ShallowQuote entities, by the public id of the quoted post."""
    return {
        (public := post_id.public.encode()): _quote(
            quote, b"quoted_status_id", b'"%b"' % public if quote.status else None
        )
        for post_id, quote in see_quotes(ids, viewer_id).items()
    }


def _quote(quote: SeenQuote, field: bytes, value: bytes | None) -> bytes:
    return b'{"state":"%b","%b":%b}' % (quote.state.encode(), field, value or b"null")


def _with_shallow(status: bytes | None, named: Mapping[bytes, bytes]) -> bytes | None:
    if status is None:
        return None
    return QUOTE.sub(partial(_present_quote, named), status.replace(_REVOKED, _REVOKED_IN_QUOTED))


def _present_quote(quotes: Mapping[bytes, bytes], match: re.Match[bytes]) -> bytes:
    return quotes[match[1]]


def fill_polls(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with its polls; the same bytes without any. Cost: as `load_polls`."""
    ids = {text: PostId.from_public(text.decode()) for text in POLL.findall(body)}
    if not ids:
        return body
    polls = load_polls(list(ids.values()), viewer_id, time.time())
    texts = {text: orjson.dumps(polls.get(post_id)) for text, post_id in ids.items()}
    return POLL.sub(lambda match: texts[match[1]], body)


def fill_approvals(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with what its viewer may; the same bytes if no post asks for it.

    Cost: one round trip and no SQL when warm.
    """
    authors = {PostId.from_public(public.decode()).author_id for public in _iter_limited(body)}
    if not authors:
        return body
    relationships = _load_relationships(viewer_id, authors)
    body = QUOTING.sub(partial(_present_quoting, viewer_id, relationships), body)
    return REPLYING.sub(partial(_present_replying, viewer_id, relationships), body)


def _iter_limited(body: bytes) -> Iterator[bytes]:
    """Public ids of the posts whose policy depends on who reads."""
    yield from (match[1] for match in QUOTING.finditer(body))
    yield from (match[3] for match in REPLYING.finditer(body))


def _load_relationships(viewer_id: int | None, authors: set[int]) -> ByAuthor:
    if viewer_id is None:
        return {}
    loaded = [load_relationships(viewer_id, part) for part in _parts(sorted(authors - {viewer_id}))]
    return {author_id: each for part in loaded for author_id, each in part.items()}


def _present_quoting(
    viewer_id: int | None, relationships: ByAuthor, match: re.Match[bytes]
) -> bytes:
    author_id = PostId.from_public(match[1].decode()).author_id
    is_follower = relationships.get(author_id, UNRELATED).is_followed
    return orjson.dumps(present_quoting(author_id == viewer_id or is_follower))


def _present_replying(
    viewer_id: int | None, relationships: ByAuthor, match: re.Match[bytes]
) -> bytes:
    mentions, policy, public = match[1], ReplyPolicy(int(match[2])), match[3].decode()
    author_id = PostId.from_public(public).author_id
    relationship = relationships.get(author_id, UNRELATED)
    is_allowed = may_reply(viewer_id, author_id, match[0], relationship)
    approval = orjson.dumps(present_replying(policy, is_allowed))
    return b'"mentions":[%b],"reply_approval":%b' % (mentions, approval)


# Quoted posts may have polls, and say who may reply: in this order.
FILLS: Mapping[bytes, Fill] = {
    QUOTE_BYTE: fill_quotes,
    POLL_BYTE: fill_polls,
    APPROVAL_BYTE: fill_approvals,
}
