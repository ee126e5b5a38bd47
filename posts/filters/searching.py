"""What the keywords of a viewer find in texts. Kept in process memory, bounded in bytes."""

from collections.abc import Sequence, Set
from contextlib import suppress
from typing import NamedTuple, Self

import msgspec
from cachebox import LRUCache

from infra.caching.process_memory import most_entries
from posts.filters.automaton import Automaton
from posts.filters.types import FilterKeyword, PostFilter
from posts.filters.words import EDGE, fold, mark_edges

# The rest of a longer text is not searched. Few posts have more than some hundred characters.
MOST_SEARCHED = 8_000
MOST_BYTES = most_entries("posts.filters", share=0.025, bytes_each=1)
_decoder = msgspec.json.Decoder(list[PostFilter])


class FilterSearch(NamedTuple):
    """All filters of a viewer, with the keywords of all of them by number.

    `parts` finds the keywords that match anywhere; `wholes`, in marked texts, whole words.
    """

    filters: Sequence[PostFilter]
    keywords: Sequence[FilterKeyword]
    parts: Automaton
    wholes: Automaton

    @classmethod
    def of(cls, filters: Sequence[PostFilter]) -> Self:
        keywords = [keyword for rule in filters for keyword in rule.keywords]
        folded = [(number, fold(keyword.keyword)) for number, keyword in enumerate(keywords)]
        parts = [(n, text) for n, text in folded if not keywords[n].whole_word]
        wholes = [(n, _whole(text)) for n, text in folded if keywords[n].whole_word]
        return cls(filters, keywords, Automaton.of(parts), Automaton.of(wholes))

    def find(self, text: str) -> Set[int]:
        """The ids of the keywords that are in the text. Cost: linear in the text."""
        folded = fold(text[:MOST_SEARCHED])
        numbers = self.parts.find(folded) if self.parts.has_keywords else frozenset()
        if self.wholes.has_keywords:
            numbers |= self.wholes.find(mark_edges(folded))
        return {self.keywords[number].id for number in numbers}

    @property
    def bytes(self) -> int:
        """About what it takes, with all of its values."""
        return self.parts.bytes + self.wholes.bytes + 500 * (len(self.filters) + len(self.keywords))


_kept: LRUCache[bytes, FilterSearch] = LRUCache(MOST_BYTES, getsizeof=lambda _, kept: kept.bytes)


def decode_filters(text: bytes) -> list[PostFilter]:
    """From `[filter, …]` as JSON. Raises: ValueError."""
    return _decoder.decode(text)


def search_of(text: bytes) -> FilterSearch:
    """The search of the filters in this text. Cost: some milliseconds for the largest, once."""
    search = _kept.get(text)
    if search is None:
        search = FilterSearch.of(decode_filters(text))
        with suppress(OverflowError):  # larger than all that may be kept
            _kept[text] = search
    return search


def _whole(folded: str) -> str:
    """The keyword as it is in a marked text. A sign at its end needs no edge that a word makes."""
    return EDGE + mark_edges(folded).strip(EDGE) + EDGE
