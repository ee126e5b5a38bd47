"""Operators in the text of a search: `"two words"`, `-word`, `#tag` and `from:name`.

For days, as `before:2026-12-01`, see search.days; for `has:media` and others, search.traits.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from accounts.texts.links import TAG_SIGNS, normalize_tag
from infra.api.errors import InvalidRequest
from posts.queries.search import ANY_POST, PostTraits, PostWords
from timelines.search.days import DayRange, intersect, read_days
from timelines.search.traits import LIBRARY, read_traits, split_traits

ME = "me"
_FROM = "from:"
# Phones write these instead of straight quotes.
_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f", '"'))
# A sign, and then a phrase or all up to the next blank. A quote without a partner begins no phrase.
_CLAUSE = re.compile(r'([+-]?)(?:"([^"]*)"|(\S+))')


# Each is compared with the texts of all posts that the index finds.
MOST_COMPARED = 10


class Operators(NamedTuple):
    """What a text asks for. `author`: the name after `from:`; None without one.

    `unwanted_authors`: the names after `-from:`. `written`: when. `in_library`: in the viewer's
    library (posts/queries/library.py), and not in the public posts.
    """

    words: PostWords
    author: str | None = None
    unwanted_authors: Sequence[str] = ()
    written: DayRange = DayRange()
    traits: PostTraits = ANY_POST
    in_library: bool = False


class _Clauses(NamedTuple):
    """The parts of a text with one sign, without the sign."""

    phrases: list[str]
    names: list[str]
    tags: list[str]
    words: list[str]


def read_operators(text: str) -> Operators:
    """The words and names of a text. If there are several wanted names, the last one counts.

    Raises: InvalidRequest for a trait that cannot be searched for, and for too many exclusions.
    """
    clauses = _CLAUSE.findall(text.translate(_QUOTES))
    wanted = _sort([clause for clause in clauses if clause[0] != "-"])
    unwanted = _sort([clause for clause in clauses if clause[0] == "-"])
    if max(sum(map(len, unwanted)), len(wanted.phrases)) > MOST_COMPARED:
        raise InvalidRequest(f"A search has at most {MOST_COMPARED} exclusions and phrases")
    traits, texts = split_traits(wanted.words)
    unwanted_traits, unwanted_texts = split_traits(unwanted.words)
    days = {word: range_ for word in texts if (range_ := read_days(word)) is not None}
    texts = [word for word in texts if word not in days]
    words = PostWords(
        " ".join((*texts, *wanted.tags, *wanted.phrases)),
        tuple(wanted.phrases),
        tuple(map(normalize_tag, wanted.tags)),
        (*unwanted_texts, *unwanted.phrases),
        tuple(map(normalize_tag, unwanted.tags)),
    )
    name = wanted.names[-1] if wanted.names else None
    found_traits = read_traits(traits, unwanted_traits)
    written, in_library = intersect(days.values()), LIBRARY in map(str.lower, traits)
    return Operators(words, name, tuple(unwanted.names), written, found_traits, in_library)


def _sort(clauses: Sequence[tuple[str, str, str]]) -> _Clauses:
    sorted_ = _Clauses([], [], [], [])
    for _, phrase, word in clauses:
        if not word:
            sorted_.phrases.append(phrase)
        elif word.lower().startswith(_FROM) and len(word) > len(_FROM):
            sorted_.names.append(word[len(_FROM) :])
        elif word[0] in TAG_SIGNS and len(word) > 1:
            sorted_.tags.append(word[1:])
        else:
            sorted_.words.append(word)
    return sorted_
