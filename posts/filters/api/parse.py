"""Parsing requests about filters, sent as JSON or as form fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from infra.api.errors import Fault, ValidationFailed
from infra.api.nested import find_objects, find_texts
from infra.api.parsing import find_flag, find_text, read_count, read_flag
from infra.clock import now_ms
from posts.filters.errors import FilterNotFound
from posts.filters.models import LONGEST_KEYWORD, LONGEST_TITLE
from posts.filters.types import ACTIONS, CONTEXTS, FilterEdit, KeywordEdit

LONGEST_ID = 18  # digits that fit the column
LONGEST_EXPIRY_S = 100 * 366 * 86_400


def read_filter_id(text: str) -> int:
    """The id in a route. Raises FilterNotFound for a text that cannot be an id."""
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_ID):
        raise FilterNotFound
    return int(text)


def read_filter_edit(data: Mapping[str, Any], is_new: bool = False) -> FilterEdit:
    """The parts that were sent. Raises ValidationFailed, InvalidRequest."""
    keywords = [_read_keyword(fields) for fields in find_objects(data, "keywords_attributes") or ()]
    title = _find_limited(data, "title", LONGEST_TITLE)
    contexts = _find_contexts(data)
    if is_new:
        _require(title=title, context=contexts)
    action = find_text(data, "filter_action") or None
    if action not in (None, *ACTIONS):
        raise ValidationFailed([_not_included("filter_action")])
    return FilterEdit(title, contexts, action, *_read_expiry(data), keywords)


def read_keyword_edit(data: Mapping[str, Any], keyword_id: int | None = None) -> KeywordEdit:
    """One keyword, without an id a new one. Raises ValidationFailed, InvalidRequest."""
    keyword = _find_limited(data, "keyword", LONGEST_KEYWORD)
    if keyword_id is None:
        _require(keyword=keyword)
    return KeywordEdit(keyword_id, keyword, find_flag(data, "whole_word"))


def read_phrase_edit(data: Mapping[str, Any], is_new: bool = False) -> tuple[FilterEdit, str]:
    """A filter of the old API: the edit without its keyword, and its keyword, empty if not sent.

    Raises ValidationFailed, InvalidRequest.
    """
    phrase = _find_limited(data, "phrase", LONGEST_TITLE)
    contexts, hides = _find_contexts(data), find_flag(data, "irreversible")
    if is_new:
        _require(phrase=phrase, context=contexts)
    action = None if hides is None else "hide" if hides else "warn"
    return FilterEdit(phrase, contexts, action, *_read_expiry(data)), phrase or ""


def _read_keyword(sent: Mapping[str, Any]) -> KeywordEdit:
    """One of `keywords_attributes`."""
    text = str(sent.get("id") or "")
    keyword_id = read_filter_id(text) if text else None
    if keyword_id is not None and read_flag(sent, "_destroy"):
        return KeywordEdit(keyword_id, is_removed=True)
    return read_keyword_edit(sent, keyword_id)


def _read_expiry(data: Mapping[str, Any]) -> tuple[int | None, bool]:
    """When the filter ends, and whether the request says so. Empty or null: it has no end."""
    if "expires_in" not in data:
        return None, False
    if data["expires_in"] in (None, ""):
        return None, True
    return now_ms() + read_count(data, "expires_in", LONGEST_EXPIRY_S) * 1000, True


def _find_contexts(data: Mapping[str, Any]) -> Sequence[str] | None:
    sent = find_texts(data, "context")
    if sent is None:
        return None
    contexts = [context for context in CONTEXTS if context in sent]
    if not contexts or not set(sent) <= set(CONTEXTS):
        raise ValidationFailed([_not_included("context")])
    return contexts


def _find_limited(data: Mapping[str, Any], name: str, most: int) -> str | None:
    """The text, None if it was not sent. Raises ValidationFailed if it is blank or too long."""
    sent = find_text(data, name)
    text = sent.strip() if sent is not None else None
    if text == "":
        raise ValidationFailed([Fault(name, "ERR_BLANK", "can't be blank")])
    if text is not None and len(text) > most:
        too_long = f"is too long (maximum is {most} characters)"
        raise ValidationFailed([Fault(name, "ERR_TOO_LONG", too_long)])
    return text


def _require(**values: object) -> None:
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise ValidationFailed([Fault(name, "ERR_BLANK", "can't be blank") for name in missing])


def _not_included(name: str) -> Fault:
    return Fault(name, "ERR_INCLUSION", "is not included in the list")
