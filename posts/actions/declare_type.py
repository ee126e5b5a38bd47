"""Declares types of posts, and removes them: one transaction on the default database."""

from collections.abc import Mapping

from infra.declarations import DeclaredTable, write_declaration
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from posts.queries.post_types import known_types

MOST_TYPES = 50
TYPES = DeclaredTable("posts_posttype", "types of posts", MOST_TYPES)
REMOVE = "DELETE FROM posts_posttype WHERE name = %s"


def declare_type(name: str, words: Mapping[str, str]) -> None:
    """A new type, or other words of one. Posts can have it at once, in all processes.

    Raises, safety, cost: as `write_declaration`.
    """
    write_declaration(TYPES, name, words)


def remove_type(name: str) -> None:
    """Ends a type: new posts cannot have it, in other processes after IN_PROCESS_S. Posts that have
    it stay as they are. Safety: idempotent."""
    execute(GLOBAL_ALIAS, REMOVE, (name,))
    known_types.forget()
