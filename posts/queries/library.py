"""Searches an account's library: posts it wrote, favourited, bookmarked, reposted or voted in.

Of each kind the newest MOST_OF_A_KIND posts are searched, by their texts and without an index. Of
favourites and bookmarks these are those marked last, and the newest ones in the range.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from infra.caching.costly_searches import search_once
from infra.sharding.buckets import is_owned, shard_of
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId
from posts.queries.search import CONDITIONS, MATCHES, PATTERNS, WordSearch, conditions_of
from posts.types import Kind

MOST_OF_A_KIND = 1_000
# The latest marks of one kind, by the index viewer_mark_list. Without them many favourites of newer
# posts would leave no room for bookmarks.
LATEST = """
UNION
(SELECT target_author, target_moment FROM (
    SELECT target_author, target_moment FROM posts_viewermark
    WHERE owner_id = %(viewer)s AND is_on AND kind = {kind:d}
    ORDER BY since_ms DESC, target_author DESC, target_moment DESC LIMIT %(most)s
 ) AS latest WHERE target_moment < %(upper)s AND target_moment >= %(lower)s)
"""
# The newest posts in the range with a reaction, a bookmark or a repost, by the indexes
# viewer_mark_recent and post_reposted_once.
MARKED = f"""
(SELECT target_author, target_moment FROM posts_viewermark
 WHERE owner_id = %(viewer)s AND is_on AND kind NOT IN ({Kind.THREAD_MUTE:d}, {Kind.PIN:d})
    AND target_moment < %(upper)s AND target_moment >= %(lower)s
 ORDER BY target_moment DESC, target_author DESC LIMIT %(most)s)
{"".join(LATEST.format(kind=kind) for kind in (Kind.FAVOURITE, Kind.BOOKMARK))}
UNION
(SELECT target_author, target_moment FROM posts_post
 WHERE author_id = %(viewer)s AND kind = {Kind.REPOST:d} AND deleted_at IS NULL
    AND target_moment < %(upper)s AND target_moment >= %(lower)s
 ORDER BY target_moment DESC, target_author DESC LIMIT %(most)s)
"""  # noqa: S608
# By keys; the viewer's own posts by the primary key, votes by the index poll_vote_of_voter.
SEARCH = f"""
WITH asked AS MATERIALIZED (SELECT {PATTERNS}), library AS MATERIALIZED (
    SELECT author_id, moment
    FROM unnest(%(authors)s::bigint[], %(moments)s::bigint[]) AS marked (author_id, moment)
    UNION SELECT author_id, moment FROM (
        SELECT author_id, moment FROM posts_pollvote WHERE voter_id = %(viewer)s
            AND moment < %(upper)s AND moment >= %(lower)s
        ORDER BY moment DESC LIMIT %(most)s) AS voted
    UNION SELECT author_id, moment FROM (
        SELECT author_id, moment FROM posts_post WHERE author_id = %(viewer)s AND kind < 2
            AND deleted_at IS NULL AND moment < %(upper)s AND moment >= %(lower)s
        ORDER BY moment DESC LIMIT %(most)s) AS own
)
SELECT author_id, moment FROM asked CROSS JOIN LATERAL (
    SELECT author_id, moment, text, poll, media, spoiler_text
    FROM library JOIN posts_post USING (author_id, moment)
    WHERE deleted_at IS NULL AND hidden_at IS NULL AND kind < 2 AND {{conditions}}
    ORDER BY moment / {SEQUENCES} DESC, author_id DESC, moment DESC OFFSET 0
) AS candidate
WHERE {MATCHES} LIMIT %(limit)s
"""  # noqa: S608


def search_library(viewer_id: int, search: WordSearch) -> list[PostId]:
    """The newest posts of the viewer's library that have the words, newest first.

    Without words all are found. Posts that the viewer may not see any more are among them. Shards
    that do not answer are left out. Raises: OperationalError, InterfaceError if no shard answers,
    or not the viewer's. Cost: one query on the viewer's shard, then one on each shard.
    """
    shared = {
        "viewer": viewer_id,
        "most": MOST_OF_A_KIND,
        "lower": search.above.second * SEQUENCES,
        "upper": (search.below.second + 1) * SEQUENCES,
    }
    marked = [PostId.at(*row) for row in fetch_all(shard_of(viewer_id), MARKED, shared)]
    calls = {
        alias: partial(_search_shard, alias, search, shared, marked) for alias in shard_aliases()
    }
    ids = {i for some in scatter_available(calls).values() for i in some if i > search.above}
    return sorted(ids, reverse=True)[: search.limit]


def _search_shard(
    alias: str, search: WordSearch, shared: dict[str, Any], marked: Sequence[PostId]
) -> list[PostId]:
    """Without the posts of authors who are moving to this shard, or have moved away."""
    here = [post_id for post_id in marked if shard_of(post_id.author_id) == alias]
    conditions, words = conditions_of(search), search.words
    params = shared | conditions | {
        "authors": [post_id.author_id for post_id in here],
        "moments": [post_id.moment for post_id in here],
        "text": words.text, "phrases": list(words.phrases), "unwanted": list(words.unwanted),
        "limit": search.limit,
    }  # fmt: skip
    asked = (shared["viewer"], search._replace(limit=0))
    rows = search_once(alias, _statement(tuple(conditions)), params, asked)
    return [PostId.at(*row) for row in rows if is_owned(alias, row[0])]


@cache
def _statement(names: Sequence[str]) -> str:
    wanted = [sql for name, sql in CONDITIONS.items() if name in names]
    return SEARCH.format(conditions=" AND ".join(wanted or ["true"]))
