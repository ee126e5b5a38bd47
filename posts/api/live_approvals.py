"""Says in answers whether the viewer may quote a post, or reply to it (approval_place.py)."""

import re
from collections.abc import Iterator, Mapping
from functools import partial

import orjson

from posts.api.approval_place import QUOTING, REPLYING, present_quoting, present_replying
from posts.ids import PostId
from posts.reading.statuses import MOST_AT_ONCE
from posts.rules import may_reply
from posts.types import ReplyPolicy
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED, Relationship

Relationships = Mapping[int, Relationship]


def fill_approvals(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with what its viewer may; the same bytes if no post asks for it.

    Cost: one round trip and no SQL when warm.
    """
    authors = {PostId.from_public(public.decode()).author_id for public in _iter_limited(body)}
    if not authors:
        return body
    relationships = _load(viewer_id, authors)
    body = QUOTING.sub(partial(_present_quoting, viewer_id, relationships), body)
    return REPLYING.sub(partial(_present_replying, viewer_id, relationships), body)


def _iter_limited(body: bytes) -> Iterator[bytes]:
    """Public ids of the posts whose policy depends on who reads."""
    yield from (match[1] for match in QUOTING.finditer(body))
    yield from (match[3] for match in REPLYING.finditer(body))


def _load(viewer_id: int | None, authors: set[int]) -> Relationships:
    if viewer_id is None:
        return {}
    others = sorted(authors - {viewer_id})
    parts = (others[at : at + MOST_AT_ONCE] for at in range(0, len(others), MOST_AT_ONCE))
    loaded = [load_relationships(viewer_id, part) for part in parts]
    return {author_id: each for part in loaded for author_id, each in part.items()}


def _present_quoting(
    viewer_id: int | None, relationships: Relationships, match: re.Match[bytes]
) -> bytes:
    author_id = PostId.from_public(match[1].decode()).author_id
    is_follower = relationships.get(author_id, UNRELATED).is_followed
    return orjson.dumps(present_quoting(author_id == viewer_id or is_follower))


def _present_replying(
    viewer_id: int | None, relationships: Relationships, match: re.Match[bytes]
) -> bytes:
    mentions, policy, public = match[1], ReplyPolicy(int(match[2])), match[3].decode()
    author_id = PostId.from_public(public).author_id
    relationship = relationships.get(author_id, UNRELATED)
    is_allowed = may_reply(viewer_id, author_id, match[0], relationship)
    approval = orjson.dumps(present_replying(policy, is_allowed))
    return b'"mentions":[%b],"reply_approval":%b' % (mentions, approval)
