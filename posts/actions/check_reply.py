"""Validates what a request says of replies: the post that it answers, and who may reply."""

from collections.abc import Mapping
from typing import Any

from posts.actions.request_fields import find_choice, find_post_id
from posts.errors import ParentNotFound
from posts.ids import PostId
from posts.types import ReplyPolicy

POLICY = "reply_approval_policy"
_BY_NAME = {policy.public: policy for policy in ReplyPolicy}
REPLY_POLICIES = tuple(_BY_NAME)


def check_parent(data: Mapping[str, Any]) -> PostId | None:
    """The post that a request replies to; None for no reply. Raises: ParentNotFound (404)."""
    return find_post_id(data, "in_reply_to_id", ParentNotFound)


def find_reply_policy(data: Mapping[str, Any]) -> ReplyPolicy | None:
    """Which accounts may reply; None: the request does not say. Raises: InvalidDraft."""
    return find_choice(data, POLICY, _BY_NAME)
