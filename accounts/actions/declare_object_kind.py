"""Declares kinds of things that services own: one transaction on the default database."""

from collections.abc import Mapping

from accounts.queries.object_kinds import known_object_kinds
from infra.declarations import DeclaredTable, write_declaration

MOST_OBJECT_KINDS = 50
OBJECT_KINDS = DeclaredTable("accounts_objectkind", "kinds of objects", MOST_OBJECT_KINDS)


def declare_object_kind(name: str, words: Mapping[str, str]) -> None:
    """A new kind, or other words of one. Objects can have it at once, in all processes.

    Raises, safety, cost: as `write_declaration`.
    """
    write_declaration(OBJECT_KINDS, name, words)
    known_object_kinds.forget()
