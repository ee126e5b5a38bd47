"""Declares reactions to posts: one transaction on the default database."""

from collections.abc import Mapping

from counters.kinds import DECLARED
from infra.declarations import DeclaredTable, write_declaration
from posts.queries.reactions import known_reactions

REACTIONS = DeclaredTable("posts_reaction", "reactions", len(DECLARED), DECLARED.start)


def declare_reaction(tenant: int, name: str, words: Mapping[str, str]) -> None:
    """A new reaction, or other words of one. Posts can have it at once, in all processes.

    Raises, safety, cost: as `write_declaration`; two at the same moment take two numbers.
    """
    write_declaration(REACTIONS, tenant, name, words)
    known_reactions.forget()
