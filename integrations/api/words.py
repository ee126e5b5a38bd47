"""Reads what a service says that a thing is called, by language."""

from collections.abc import Mapping
from typing import Any

from infra.api.errors import InvalidRequest
from infra.api.nested import find_object
from infra.api.parsing import clean_text
from infra.languages import find_language_code
from integrations.api import schema


def read_words(data: Mapping[str, Any]) -> dict[str, str]:
    """By language. Raises: InvalidRequest."""
    sent = find_object(data, "words") or {}
    if not 0 < len(sent) <= schema.MOST_LANGUAGES:
        raise InvalidRequest(f"words must have 1 to {schema.MOST_LANGUAGES} languages")
    return {_read_language(code): _read_word(text) for code, text in sent.items()}


def _read_language(code: str) -> str:
    language = find_language_code(code)
    if language is None:
        raise InvalidRequest("words must have codes of languages as their names")
    return language


def _read_word(sent: object) -> str:
    text = clean_text(sent, "words").strip()
    if not 0 < len(text) <= schema.LONGEST_WORDS:
        raise InvalidRequest(f"Each of words must have 1 to {schema.LONGEST_WORDS} characters")
    return text
