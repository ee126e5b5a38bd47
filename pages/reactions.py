"""The reactions under a post, as pages show them: with words of the page's language."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from infra.declarations import choose_words
from infra.languages import page_language
from posts.queries.reactions import list_known_reactions

# The first ones are offered under each post, the others in its menu.
OFFERED = 3


class ShownReaction(NamedTuple):
    """`reacted`: how many did so. `is_own`: the viewer is one of them."""

    name: str
    words: str
    reacted: int
    is_own: bool


class PostReactions(NamedTuple):
    """`row`: those that the post has, and the first OFFERED ones. Both in their order."""

    row: Sequence[ShownReaction]
    others: Sequence[ShownReaction]


def reactions_on(status: Mapping[str, Any]) -> PostReactions:
    """Cost: as `list_known_reactions`."""
    row: list[ShownReaction] = []
    others: list[ShownReaction] = []
    language = page_language()
    had = {each["name"]: each for each in status.get("reactions", ())}
    for place, reaction in enumerate(list_known_reactions()):
        there = had.get(reaction.name)
        count, is_own = (there["count"], there["me"]) if there else (0, False)
        shown = ShownReaction(reaction.name, choose_words(reaction.words, language), count, is_own)
        (row if there or place < OFFERED else others).append(shown)
    return PostReactions(row, others)


def in_language(words: Mapping[str, str]) -> str:
    """Words of a service, in the language of the page."""
    return choose_words(words, page_language())


def words_of(name: str) -> str:
    """What a reaction is called; its name if it is not known. Cost: as `list_known_reactions`."""
    words = (each.words for each in list_known_reactions() if each.name == name)
    return next((choose_words(each, page_language()) for each in words), name)
