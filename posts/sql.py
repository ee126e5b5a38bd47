"""SQL on the tables of posts, for other apps. No other app names these tables.

An app composes a fragment into its own statement at import time, so the statement stays one query.
"""

from accounts.sql import is_shown_to_strangers
from counters.kinds import CounterKind
from counters.sql import select_counts
from infra.jobs.walk import Table
from posts.types import IS_REACTION, Kind, Visibility

# The post that an event shows: itself, or the post it reposts.
SHOWN = """
    CASE kind WHEN 2 THEN target_author ELSE author_id END AS shown_author,
    CASE kind WHEN 2 THEN target_moment ELSE moment END AS shown_moment"""
# Live posts of all kinds: author_id, moment, shown_author, shown_moment. Conditions on author_id
# and moment follow with AND; with them it is an index-only scan of post_live.
LIVE_POSTS_AND_REPOSTS = (
    f"SELECT author_id, moment, {SHOWN} FROM posts_post WHERE deleted_at IS NULL"  # noqa: S608
)
# Those of them that timelines have: direct posts are in none.
LIVE_EVENTS = f"{LIVE_POSTS_AND_REPOSTS} AND visibility < {Visibility.DIRECT:d}"
# Parameters: author ids, moments. The public posts among these: live ones, no reposts, and as in
# Mastodon's public timeline without replies to other accounts. Returns author_id, moment.
PUBLIC_POSTS = """
SELECT author_id, moment FROM unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
JOIN posts_post USING (author_id, moment)
WHERE deleted_at IS NULL AND visibility = 0
    AND (kind = 0 OR kind = 1 AND target_author = author_id)
"""
# Parameters: author ids, moments. The tags of the live public posts among these that have tags.
TAGS_OF_PUBLIC_POSTS = """
SELECT author_id, moment, tags FROM unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
JOIN posts_post USING (author_id, moment)
WHERE deleted_at IS NULL AND visibility = 0 AND tags IS NOT NULL
"""
# Parameters: an author, how many. The newest open posts of the author with tags: moment, tags.
TAGS_OF_AUTHOR = f"""
SELECT moment, tags FROM posts_post
WHERE author_id = %s AND deleted_at IS NULL AND tags IS NOT NULL
    AND visibility < {Visibility.PRIVATE:d}
ORDER BY moment DESC LIMIT %s
"""  # noqa: S608
_MARKS = select_counts(
    "recent.author_id",
    "recent.moment",
    f"kind IN ({CounterKind.REPOSTS:d}, {CounterKind.FAVOURITES:d})",
)
# The newest public posts of a shard, by the index post_public. Parameters: a moment, how many.
# `owned` is to be filled in.
_RECENT = """
    SELECT author_id, moment, kind, sensitive, tags FROM posts_post
    WHERE deleted_at IS NULL AND hidden_at IS NULL AND visibility = 0 AND kind < 2 AND moment >= %s
        AND {owned}
    ORDER BY moment DESC LIMIT %s"""
# Those of them whose authors no moderator hides.
_RECENT_SHOWN = f"""
    (SELECT * FROM ({_RECENT}) AS newest WHERE {is_shown_to_strangers("author_id")})"""  # noqa: S608
# Parameters: as _RECENT, then how many. Their tags, each with the number of authors.
RECENT_TAGS = f"""
SELECT tag, count(DISTINCT author_id) FROM {_RECENT_SHOWN} AS recent CROSS JOIN unnest(tags) AS tag
GROUP BY tag ORDER BY 2 DESC, 1 LIMIT %s
"""  # noqa: S608
# Parameters: as RECENT_TAGS. Those that are no replies and not sensitive, with the number of their
# favourites and reposts, if they have any: author_id, moment, marks.
RECENT_MARKS = f"""
SELECT author_id, moment, sum(value)::bigint FROM {_RECENT_SHOWN} AS recent
CROSS JOIN LATERAL ({_MARKS}) AS marks
WHERE recent.kind = {Kind.POST:d} AND NOT sensitive
GROUP BY author_id, moment ORDER BY 3 DESC, moment DESC LIMIT %s
"""  # noqa: S608
# Parameters: %(owners)s, %(most)s. The responses to the newest posts, of each of these authors of
# the shard: author_id, moment, kind, responder_id, reply_moment, at, revision, is_on.
NEWEST_RESPONSES = """
SELECT r.* FROM unnest(%(owners)s::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT author_id, moment, kind, responder_id, reply_moment, at, revision, is_on
    FROM posts_response WHERE author_id = wanted.id AND is_on ORDER BY moment DESC LIMIT %(most)s
) AS r
"""
# Writes posts straight into the table, for benchmarks. A SELECT of these columns follows.
INSERT_POSTS = "INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text)"
ANALYZE_POSTS = "VACUUM ANALYZE posts_post"
# Parameters: author ids, Idempotency-Keys. Returns the keys of published posts among them.
PUBLISHED_KEYS = """
SELECT key FROM posts_publishedkey
WHERE author_id = ANY(%s::bigint[]) AND key = ANY(%s::text[])
"""

# For jobs that walk all rows.
LIVE_POSTS = Table("posts_post", ("author_id", "moment"), where="deleted_at IS NULL")
TAGGED_POSTS = Table(
    "posts_post",
    ("author_id", "moment"),
    ("tags",),
    where="deleted_at IS NULL AND tags IS NOT NULL AND visibility = 0",
)
RESPONDING_POSTS = Table(
    "posts_post",
    ("author_id", "moment"),
    ("kind", "target_author", "target_moment", "visibility"),
    where="deleted_at IS NULL AND kind <> 0",
)
QUOTING_POSTS = Table(
    "posts_post",
    ("author_id", "moment"),
    ("quoted_author", "quoted_moment", "visibility", "is_quote_revoked"),
    where="deleted_at IS NULL AND quoted_author IS NOT NULL",
)
REACTIONS = Table(
    "posts_viewermark",
    ("owner_id", "target_moment", "target_author", "kind"),
    ("since_ms", "revision", "is_on"),
    where=f"is_on AND {IS_REACTION}",
)
RESPONSES = Table(
    "posts_response",
    ("author_id", "moment", "kind", "responder_id", "reply_moment"),
    ("at", "revision", "is_on"),
)
DIRECT_POSTS_WRITTEN = Table(
    "posts_post", ("author_id", "moment"), where="deleted_at IS NULL AND visibility = 3"
)
VIEWER_MARKS = Table(
    "posts_viewermark", ("owner_id", "target_moment", "target_author", "kind"), where="is_on"
)
