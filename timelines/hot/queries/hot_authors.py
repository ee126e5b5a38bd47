"""Which authors are hot (seed T4), read from their own shards.

no row            new posts are pushed to the followers
hot               nothing is pushed; the followers' pages merge the author's hot entries
hot and cooling   new posts are pushed again, and the hot entries are still merged, until no live
                  timeline lacks a post that was not pushed (timelines/hot/consumers.py)
"""

from collections.abc import Collection, Sequence

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.sharding.buckets import is_owned
from infra.sharding.sql import fetch_all

UNPUSHED = """
SELECT author_id FROM timelines_hotauthor WHERE author_id = ANY(%s::bigint[]) AND NOT is_cooling
"""


def list_unpushed_authors(alias: str, author_ids: Collection[int]) -> set[int]:
    """The authors among these whose new posts are not pushed. One query by key, on their shard."""
    return {row[0] for row in fetch_all(alias, UNPUSHED, (list(author_ids),))}


def list_hot_authors(alias: str) -> list[int]:
    """All hot authors of this shard, cooling or not: their entries are merged. There are few."""
    rows = fetch_all(alias, "SELECT author_id FROM timelines_hotauthor")
    return [author_id for (author_id,) in rows if is_owned(alias, author_id)]


def load_follower_counts(alias: str, author_ids: Sequence[int]) -> dict[int, int]:
    """Followers by author. One query by key, on the authors' shard."""
    counts = read_counts(alias, author_ids, [CounterKind.FOLLOWERS])
    return {author: kinds[CounterKind.FOLLOWERS].value for author, kinds in counts.items()}
