"""Declares types of posts, and removes them: one statement on the default database."""

from collections.abc import Mapping

import orjson

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from posts.errors import TooManyTypes
from posts.queries.post_types import forget_type_names

MOST_TYPES = 50
# Two new ones at the same moment may be one more than MOST_TYPES.
DECLARE = """
INSERT INTO posts_posttype (tenant, name, words)
SELECT %(tenant)s::int, %(name)s::text, %(words)s::jsonb
WHERE EXISTS (
    SELECT FROM posts_posttype WHERE tenant = %(tenant)s::int AND name = %(name)s::text)
    OR (SELECT count(*) FROM posts_posttype WHERE tenant = %(tenant)s::int) < %(most)s
ON CONFLICT (tenant, name) DO UPDATE SET words = excluded.words
"""
REMOVE = "DELETE FROM posts_posttype WHERE tenant = %s AND name = %s"


def declare_type(tenant: int, name: str, words: Mapping[str, str]) -> None:
    """A new type, or other words of one. Posts can have it at once, in all processes.

    Raises: TooManyTypes. Safety: idempotent.
    """
    values = {"tenant": tenant, "name": name, "most": MOST_TYPES}
    if not execute(GLOBAL_ALIAS, DECLARE, {**values, "words": orjson.dumps(words).decode()}):
        raise TooManyTypes(MOST_TYPES)


def remove_type(tenant: int, name: str) -> None:
    """Ends a type: new posts cannot have it, in other processes after IN_PROCESS_S. Posts that have
    it stay as they are. Safety: idempotent."""
    execute(GLOBAL_ALIAS, REMOVE, (tenant, name))
    forget_type_names()
