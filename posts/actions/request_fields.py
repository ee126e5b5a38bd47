"""Fields that requests about posts have in common."""

from collections.abc import Mapping
from typing import Any, TypeVar

from infra.api.errors import TidelineError
from posts.errors import InvalidDraft
from posts.ids import MalformedPostId, PostId

T = TypeVar("T")
_ABSENT = (None, "")


def find_post_id(data: Mapping[str, Any], name: str, missing: type[TidelineError]) -> PostId | None:
    """The post that a field names; None if it is absent. Raises: `missing` for what is no id."""
    text = data.get(name)
    if text in _ABSENT:
        return None
    try:
        return PostId.from_public(str(text))
    except MalformedPostId:
        raise missing from None


def find_choice(data: Mapping[str, Any], name: str, choices: Mapping[str, T]) -> T | None:
    """What the word of a field means; None if it is absent. Raises: InvalidDraft."""
    word = data.get(name)
    if word in _ABSENT:
        return None
    if not isinstance(word, str) or word not in choices:
        raise InvalidDraft(f"Validation failed: {name} can be {', '.join(choices)}")
    return choices[word]
