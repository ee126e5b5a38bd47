"""Declares reactions to posts: one transaction on the default database."""

from collections.abc import Mapping

import orjson
from django.db import transaction

from counters.kinds import DECLARED
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_one
from posts.errors import TooManyReactions
from posts.queries.reactions import forget_reactions

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('posts.reactions', %s))"
# A number is given once.
DECLARE = """
INSERT INTO posts_reaction (tenant, number, name, words)
SELECT %(tenant)s, coalesce(
        (SELECT number FROM posts_reaction WHERE tenant = %(tenant)s AND name = %(name)s),
        (SELECT max(number) + 1 FROM posts_reaction WHERE tenant = %(tenant)s), %(first)s),
    %(name)s, %(words)s::jsonb
ON CONFLICT (tenant, number) DO UPDATE SET words = excluded.words
RETURNING number
"""


def declare_reaction(tenant: int, name: str, words: Mapping[str, str]) -> None:
    """A new reaction, or other words of one. Posts can have it at once, in all processes.

    Raises: TooManyReactions. Safety: idempotent; two at the same moment take two numbers, and the
    limit is exact. Cost: two statements.
    """
    values = {"tenant": tenant, "name": name, "first": DECLARED.start}
    with transaction.atomic(using=GLOBAL_ALIAS):
        execute(GLOBAL_ALIAS, LOCK, (tenant,))
        params = {**values, "words": orjson.dumps(words).decode()}
        (number,) = fetch_one(GLOBAL_ALIAS, DECLARE, params)  # type: ignore[misc]  # RETURNING
        if number not in DECLARED:
            raise TooManyReactions(len(DECLARED))
    forget_reactions()
