"""The reactions to posts that services declared: the favourite is built in, and not among them.

A reaction keeps its name and number for ever. A name or a number that a process does not know is
looked up, so a new reaction holds at once everywhere; new words, after IN_PROCESS_S.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from infra.declarations import DeclaredMemory
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import GLOBAL_ALIAS
from posts.errors import UnknownReaction
from posts.models import Reaction
from posts.types import LONGEST_REACTION, Kind

FAVOURITE = Kind.FAVOURITE.name.lower()
REACTION_PATTERN = r"[a-z][a-z0-9_]*"
REACTION_NAME = re.compile(rf"(?=.{{1,{LONGEST_REACTION}}}$){REACTION_PATTERN}", re.ASCII)


class DeclaredReaction(NamedTuple):
    """`words`: what it is called, by language. `notifies_from_ms`: reactions since then notify the
    author of the post; None if they do not."""

    kind: Kind
    name: str
    words: Mapping[str, str]
    notifies_from_ms: int | None = None

    @property
    def named(self) -> dict[str, object]:
        """As clients get it next to what somebody did."""
        return {"name": self.name, "words": self.words}


def list_reactions() -> list[DeclaredReaction]:
    """All of them, in the order in which they were declared. One query of the default database."""
    rows = Reaction.objects.using(GLOBAL_ALIAS).order_by("number")
    values = rows.values_list("number", "name", "words", "notifies_from_ms")
    return [DeclaredReaction(Kind(number), *row) for number, *row in values]


known_reactions = DeclaredMemory(list_reactions)


def list_known_reactions() -> Sequence[DeclaredReaction]:
    """As `list_all`, also while the default database is away: none if this process has read none,
    because a page does without."""
    try:
        return known_reactions.list_all()
    except NO_ANSWER:
        return ()


def present_reaction(reaction: DeclaredReaction) -> dict[str, object]:
    return {**reaction.named, "notifies": reaction.notifies_from_ms is not None}


def get_reaction_kind(name: str) -> Kind:
    """The kind of the reaction with this name, also of the favourite. Raises: UnknownReaction;
    errors of NO_ANSWER. Cost: as `DeclaredMemory.find`."""
    if name == FAVOURITE:
        return Kind.FAVOURITE
    reaction = known_reactions.find(lambda each: each.name == name)
    if reaction is None:
        names = [each.name for each in known_reactions.list_all()]
        raise UnknownReaction([FAVOURITE, *names])
    return reaction.kind


def find_reaction(number: int) -> DeclaredReaction | None:
    """None if there is no reaction with this number. Raises, cost: as `get_reaction_kind`."""
    return known_reactions.find(lambda each: each.kind == number)


def does_notify(number: int, at_ms: int) -> bool:
    """Whether a reaction of this time notifies the author of the post. Raises, cost: as
    `get_reaction_kind`."""
    reaction = find_reaction(number)
    since_ms = reaction and reaction.notifies_from_ms
    return since_ms is not None and since_ms <= at_ms


def find_reaction_name(number: int) -> str | None:
    """As `find_reaction`."""
    reaction = find_reaction(number)
    return None if reaction is None else reaction.name


def find_shown_reaction(number: int) -> DeclaredReaction | None:
    """As `find_reaction`. None also while the default database is away: a page does without what
    this process has not shown before."""
    try:
        return find_reaction(number)
    except NO_ANSWER:
        return None


def find_shown_name(number: int) -> str | None:
    """As `find_shown_reaction`."""
    reaction = find_shown_reaction(number)
    return None if reaction is None else reaction.name
