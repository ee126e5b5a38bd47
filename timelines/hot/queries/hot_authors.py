"""Which authors are hot (T4), as their own shards have it.

no row            everybody's followers are pushed to
hot               nobody is pushed to; followers' pages merge the author's outbox
hot and cooling   pushed to again, and still merged, until no live timeline lacks what was not
                  pushed (cooling.py)
"""

from collections.abc import Collection

from infra.sharding.sql import execute, fetch_all

FIND_UNPUSHED = """
SELECT author_id FROM timelines_hotauthor WHERE author_id = ANY(%s::bigint[]) AND NOT is_cooling
"""
HEAT = """
INSERT INTO timelines_hotauthor (author_id, is_cooling) VALUES (%s, false)
ON CONFLICT (author_id) DO UPDATE SET is_cooling = false
"""
COOL = "UPDATE timelines_hotauthor SET is_cooling = true WHERE author_id = %s AND NOT is_cooling"
FORGET = "DELETE FROM timelines_hotauthor WHERE author_id = %s AND is_cooling"


def list_unpushed_authors(alias: str, author_ids: Collection[int]) -> set[int]:
    """Those whose new posts are not pushed. One query by key, on the authors' shard."""
    return {row[0] for row in fetch_all(alias, FIND_UNPUSHED, (list(author_ids),))}


def list_hot_authors(alias: str) -> list[int]:
    """All of this shard whose outboxes are merged, cooling or not; few."""
    return [row[0] for row in fetch_all(alias, "SELECT author_id FROM timelines_hotauthor")]


def heat_author(alias: str, author_id: int) -> None:
    """From the next batch of the author's lane on nothing is pushed."""
    execute(alias, HEAT, (author_id,))


def cool_author(alias: str, author_id: int) -> bool:
    """From the next batch of the author's lane on everything is pushed again. False: not hot."""
    return execute(alias, COOL, (author_id,)) > 0


def end_cooling(alias: str, author_id: int) -> bool:
    """Ends it for who is cooling still. False: hot again meanwhile."""
    return execute(alias, FORGET, (author_id,)) > 0
