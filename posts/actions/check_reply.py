"""Validates what a request says of replies: the post that it answers, and who may reply."""

from collections.abc import Mapping
from typing import Any

from posts.errors import InvalidDraft, ParentNotFound
from posts.ids import MalformedPostId, PostId
from posts.types import ReplyPolicy

POLICY = "reply_approval_policy"
REPLY_POLICIES = tuple(policy.public for policy in ReplyPolicy)


def check_parent(data: Mapping[str, Any]) -> PostId | None:
    """The post that a request replies to; None for no reply. Raises: ParentNotFound (404)."""
    text = data.get("in_reply_to_id")
    if text in (None, ""):
        return None
    try:
        return PostId.from_public(str(text))
    except MalformedPostId:
        raise ParentNotFound from None


def find_reply_policy(data: Mapping[str, Any]) -> ReplyPolicy | None:
    """Which accounts may reply; None: the request does not say. Raises: InvalidDraft."""
    word = data.get(POLICY)
    if word in (None, ""):
        return None
    if not isinstance(word, str) or word not in REPLY_POLICIES:
        raise InvalidDraft(f"Validation failed: {POLICY} can be {', '.join(REPLY_POLICIES)}")
    return ReplyPolicy[word.upper()]
