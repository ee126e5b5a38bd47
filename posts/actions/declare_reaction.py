"""Declares reactions to posts: one transaction on the default database."""

from collections.abc import Mapping

from django.db import transaction

from counters.kinds import DECLARED
from infra.clock import now_ms
from infra.declarations import DeclaredTable, write_declaration
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from posts.queries.reactions import known_reactions

REACTIONS = DeclaredTable("posts_reaction", "reactions", len(DECLARED), DECLARED.start)


# One that notifies goes on to do so from when it began: audits look for what is missing since then.
NOTIFY = """
UPDATE posts_reaction SET notifies_from_ms = CASE WHEN %s THEN coalesce(notifies_from_ms, %s) END
WHERE name = %s
"""


def declare_reaction(name: str, words: Mapping[str, str], notifies: bool = True) -> None:
    """A new reaction, or other words of one. Posts can have it at once, in all processes.

    `notifies`: from now on it notifies the author of the post; other processes know a change after
    IN_PROCESS_S. Raises, safety: as `write_declaration`; two at the same moment take two numbers.
    Cost: three statements.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        write_declaration(REACTIONS, name, words)
        execute(GLOBAL_ALIAS, NOTIFY, (notifies, now_ms(), name))
    known_reactions.forget()
