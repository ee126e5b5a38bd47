"""Traits of posts in the text of a search: `has:media`, `is:reply`, `language:en`, `in:library`.

With a minus sign before, the posts that lack it. Traits that no post here can have are refused,
because a search that ignores a part of its text gives wrong posts.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from infra.api.errors import InvalidRequest
from posts.queries.search import PostTraits

_FIELDS = {
    "has:media": "has_media",
    "has:image": "has_media",
    "has:poll": "has_poll",
    "is:reply": "is_reply",
    "is:sensitive": "is_sensitive",
}
# Without `in:library` public posts are searched, so these ask for nothing more.
_EVERYTHING = ("in:all", "in:public")
LIBRARY = "in:library"
_LANGUAGE = "language:"
_PREFIXES = ("has:", "is:", "in:", _LANGUAGE)
KNOWN = (*_FIELDS, *_EVERYTHING, LIBRARY, f"{_LANGUAGE}en")


class TraitWords(NamedTuple):
    """The words of a text that ask for traits, and those that do not."""

    traits: Sequence[str]
    words: Sequence[str]


def split_traits(words: Iterable[str]) -> TraitWords:
    """A word such as `is:` without anything behind it is a word."""
    traits: list[str] = []
    others: list[str] = []
    for word in words:
        is_trait = word.lower().startswith(_PREFIXES) and not word.endswith(":")
        (traits if is_trait else others).append(word)
    return TraitWords(traits, others)


def read_traits(wanted: Iterable[str], unwanted: Iterable[str]) -> PostTraits:
    """Raises: InvalidRequest for a trait that is not known, or that is wanted and unwanted."""
    fields: dict[str, bool] = {}
    languages: dict[bool, list[str]] = {True: [], False: []}
    for is_wanted, words in ((True, wanted), (False, unwanted)):
        for word in map(str.lower, words):
            if word.startswith(_LANGUAGE):
                languages[is_wanted].append(word.removeprefix(_LANGUAGE))
            elif word in _FIELDS:
                _set(fields, word, is_wanted)
            elif word not in (*_EVERYTHING, LIBRARY) or not is_wanted:
                raise InvalidRequest(
                    f"{word[:40]} cannot be searched for; known: {', '.join(KNOWN)}"
                )
    spoken, unspoken = tuple(languages[True]), tuple(languages[False])
    return PostTraits(**fields, languages=spoken, unwanted_languages=unspoken)


def _set(fields: dict[str, bool], word: str, is_wanted: bool) -> None:
    name = _FIELDS[word]
    if fields.setdefault(name, is_wanted) != is_wanted:
        raise InvalidRequest(f"{word} is wanted and unwanted")
