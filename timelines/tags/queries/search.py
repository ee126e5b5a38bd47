"""Searches tags by the beginning of their names."""

from collections.abc import Sequence
from functools import partial

from infra.sharding.buckets import is_owned
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all

# Of each shard. So a beginning that very many tags have costs no more.
MOST_MATCHES = 100
# The time of the newest post with the tag; tags without posts are left out.
SEARCH = """
SELECT tag.name, newest.second, tag.tag_id FROM (
    SELECT tag_id, name FROM tags_tag WHERE name LIKE %s ORDER BY name USING ~<~ LIMIT %s
) AS tag CROSS JOIN LATERAL (
    SELECT second FROM tags_taggedpost WHERE tag_id = tag.tag_id
    ORDER BY second DESC, author_id DESC, sequence DESC LIMIT 1
) AS newest
"""


def search_tags(beginning: str, limit: int, offset: int = 0) -> list[str]:
    """Names of tags that begin with this normalized text: the text itself, then by latest use.

    Shards that do not answer are left out. Raises: OperationalError, InterfaceError if none does.
    Cost: one query on each shard.
    """
    calls = {alias: partial(_ask, alias, beginning) for alias in shard_aliases()}
    rows = [row for rows in scatter_available(calls).values() for row in rows]
    rows.sort(key=lambda row: (row[0] != beginning, -row[1], row[0]))
    return [name for name, _ in rows[offset : offset + limit]]


def _ask(alias: str, beginning: str) -> Sequence[tuple[str, int]]:
    pattern = "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in beginning)
    rows = fetch_all(alias, SEARCH, (f"{pattern}%", MOST_MATCHES))
    return [(name, second) for name, second, tag_id in rows if is_owned(alias, tag_id)]
