"""Declares reactions to posts: one transaction on the default database."""

from collections.abc import Mapping

from django.db import transaction

from counters.kinds import DECLARED
from infra.declarations import IN_PROCESS_S, DeclaredTable, write_declaration
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from posts.queries.reactions import known_reactions

REACTIONS = DeclaredTable("posts_reaction", "reactions", len(DECLARED), DECLARED.start)


# One that notifies goes on to do so from when it began: audits look for what is missing since then.
NOTIFY = """
UPDATE posts_reaction SET notifies_from_ms = CASE WHEN %s THEN coalesce(notifies_from_ms, %s) END
WHERE name = %s
"""


def declare_reaction(
    name: str, words: Mapping[str, str], at_ms: int, notifies: bool = True
) -> None:
    """A new reaction, or other words of one. Posts can have it at once, in all processes.

    `notifies`: from IN_PROCESS_S after `at_ms` on it notifies the author of the post. All processes
    know it by then, so no page of notifications lacks one that a later page has. Raises, safety: as
    `write_declaration`; two at the same moment take two numbers. Cost: three statements.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        write_declaration(REACTIONS, name, words)
        execute(GLOBAL_ALIAS, NOTIFY, (notifies, at_ms + IN_PROCESS_S * 1_000, name))
    known_reactions.forget()
