"""Validates the request that publishes a post."""

from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from msgspec.structs import replace

from accounts.texts.links import exceeds
from infra.api.errors import InvalidRequest
from infra.api.parsing import clean_text, read_flag, read_text
from infra.languages import find_language_code
from posts.actions.check_quote import find_quote_policy
from posts.actions.check_reply import find_reply_policy
from posts.actions.request_fields import find_choice
from posts.errors import EmptyPost, InvalidDraft, PostTooLong
from posts.types import Draft, QuotePolicy, ReplyPolicy, Visibility

MAX_KEY_LENGTH = 255


def check_draft(data: Mapping[str, Any], may_be_empty: bool = False) -> Draft:
    """The draft in a request, without what it quotes and answers.

    Raises: as `check_content`.
    """
    _refuse_sent(data, ("media_attributes",))  # edits may have them: posts.api.images
    draft = check_content(data, may_be_empty)
    return replace(
        draft,
        visibility=read_visibility(data),
        quote_policy=find_quote_policy(data) or QuotePolicy.PUBLIC,
        reply_policy=find_reply_policy(data) or ReplyPolicy.PUBLIC,
    )


def check_content(data: Mapping[str, Any], may_be_empty: bool = False) -> Draft:
    """The draft in a request, as a public one. With images or a quote it may have no text.

    As in Mastodon: texts have no blanks around them, a warning makes the post sensitive, and a
    warning without a text is the text. Raises: EmptyPost, PostTooLong, InvalidDraft,
    InvalidRequest (all 422).
    """
    text, warning = (read_text(data, name).strip() for name in ("status", "spoiler_text"))
    is_sensitive = read_flag(data, "sensitive") or bool(warning)
    if not text:
        text, warning = warning, ""
    if not text and not may_be_empty:
        raise EmptyPost
    if exceeds(text, settings.POST_MAX_CHARACTERS, warning):
        raise PostTooLong(settings.POST_MAX_CHARACTERS)
    return Draft(text, is_sensitive, warning, _find_language(data))


def _find_language(data: Mapping[str, Any]) -> str | None:
    text = read_text(data, "language")
    code = find_language_code(text)
    if text and code is None:
        raise InvalidDraft("Validation failed: Language is not a language code")
    return code


def _refuse_sent(data: Mapping[str, Any], names: Collection[str]) -> None:
    for name in names:
        if data.get(name):
            raise InvalidDraft(f"Validation failed: {name} is not supported")


def read_visibility(
    data: Mapping[str, Any], most_closed: Visibility = Visibility.DIRECT
) -> Visibility:
    """The visibility in a request; public if it has none. Raises: InvalidDraft."""
    words = {
        visibility.name.lower(): visibility
        for visibility in Visibility
        if visibility <= most_closed
    }
    return find_choice(data, "visibility", words) or Visibility.PUBLIC


def check_edited(data: Mapping[str, Any], visibility: int) -> None:
    """For edits, with which some clients send the visibility. Raises: InvalidDraft for another one,
    and for a time: the post is published."""
    _refuse_sent(data, ("scheduled_at",))
    if data.get("visibility") not in (None, "", Visibility(visibility).name.lower()):
        raise InvalidDraft("Validation failed: The visibility of a post cannot be changed")


def check_key(key: str | None) -> str | None:
    """The Idempotency-Key, or None. Raises: InvalidRequest if it is too long."""
    if not key:
        return None
    if len(clean_text(key, "Idempotency-Key")) > MAX_KEY_LENGTH:
        raise InvalidRequest(f"Idempotency-Key is longer than {MAX_KEY_LENGTH} characters")
    return key
