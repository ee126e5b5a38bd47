"""Validates the request that publishes a post."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from infra.api.errors import InvalidRequest
from infra.api.parsing import clean_text, read_flag, read_text
from posts.errors import EmptyPost, InvalidDraft, ParentNotFound, PostTooLong
from posts.ids import MalformedPostId, PostId
from posts.types import Draft

MAX_KEY_LENGTH = 64
MAX_LANGUAGE_LENGTH = 16
# Parameters of Mastodon's request that Tideline lacks. Ignoring them would lose data silently.
UNSUPPORTED = (
    "media_ids",
    "media_ids[]",
    "poll",
    "scheduled_at",
    "quoted_status_id",
)


def check_draft(data: Mapping[str, Any]) -> Draft:
    """The draft in a request.

    Raises: EmptyPost, PostTooLong, InvalidDraft, InvalidRequest (all 422).
    """
    for name in UNSUPPORTED:
        if data.get(name):
            raise InvalidDraft(f"Validation failed: {name} is not supported")
    check_visibility(data)
    text = read_text(data, "status")
    spoiler_text = read_text(data, "spoiler_text")
    if not text.strip():
        raise EmptyPost
    if len(text) + len(spoiler_text) > settings.POST_MAX_CHARACTERS:
        raise PostTooLong(settings.POST_MAX_CHARACTERS)
    language = read_text(data, "language")
    if len(language) > MAX_LANGUAGE_LENGTH:
        raise InvalidDraft("Validation failed: Language is not a language code")
    return Draft(text, read_flag(data, "sensitive"), spoiler_text, language or None)


def check_visibility(data: Mapping[str, Any]) -> None:
    """Raises: InvalidDraft for every visibility except public."""
    if data.get("visibility") not in (None, "", "public"):
        raise InvalidDraft("Validation failed: Visibility can only be public")


def check_parent(data: Mapping[str, Any]) -> PostId | None:
    """The post that a request replies to; None for no reply. Raises: ParentNotFound (404)."""
    text = data.get("in_reply_to_id")
    if text in (None, ""):
        return None
    try:
        return PostId.from_public(str(text))
    except MalformedPostId:
        raise ParentNotFound from None


def check_key(key: str | None) -> str | None:
    """The Idempotency-Key, or None. Raises: InvalidRequest if it is too long."""
    if not key:
        return None
    if len(clean_text(key, "Idempotency-Key")) > MAX_KEY_LENGTH:
        raise InvalidRequest(f"Idempotency-Key is longer than {MAX_KEY_LENGTH} characters")
    return key
