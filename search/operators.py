"""Operators in the text of a search: `from:name` and `#tag`."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.api.links import normalize_tag

_FROM = "from:"
ME = "me"


class Words(NamedTuple):
    """The words to search for, also those of the tags. `author`: the name after `from:`; None
    without one. `tags`: tags that a post must have, normalized."""

    text: str
    author: str | None
    tags: Sequence[str] = ()


def read_operators(text: str) -> Words:
    """The words without operators. If there are several names, the last one counts."""
    parts = text.split()
    names = [part for part in parts if part.lower().startswith(_FROM) and len(part) > len(_FROM)]
    words = [part for part in parts if part not in names]
    tags = [normalize_tag(word[1:]) for word in words if word.startswith("#") and len(word) > 1]
    return Words(" ".join(words), names[-1][len(_FROM) :] if names else None, tags)
