"""What the databases hold, all shards together, and whether it agrees with itself."""

from collections import Counter

from django.conf import settings

from counters.kinds import CounterKind
from infra.changes.models import Change
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from posts.actions.insert_post import DAY_S
from posts.ids import EPOCH, SEQUENCES
from posts.types import Kind
from relations.counter_rows import BACKWARD_KINDS, FORWARD_KINDS
from relations.types import Attribute, Edge, EdgeFlag

Pair = tuple[int, int]  # follower, followee
EDGES = "SELECT follower_id, followee_id, attribute, revision, since_ms, flags FROM {}"
COUNTS = """
SELECT owner_id, kind, value FROM counters_counter
WHERE subject = 0 AND value > 0 AND kind <> 14
"""
# By account, the day of the newest post.
DAYS = "SELECT owner_id, value FROM counters_counter WHERE kind = 14 AND value > 0"
LIVE_POSTS = """
SELECT author_id, count(*), max(moment) FROM posts_post
WHERE deleted_at IS NULL AND visibility < 3 GROUP BY 1
"""
POST_COUNTS = "SELECT owner_id, subject, kind, value FROM counters_counter WHERE subject <> 0"
FILTERS = "SELECT owner_id, count(*) FROM filters_filter GROUP BY 1"
MARKED = "SELECT owner_id, count(*) FROM posts_viewermark WHERE is_on GROUP BY 1"
RESPONSES = """
SELECT author_id, moment, kind, responder_id, reply_moment, at FROM posts_response WHERE is_on
"""
# The same, as those who responded have it.
RESPONDED = """
SELECT target_author, target_moment,
    CASE WHEN kind = 1 AND visibility > 1 THEN 7 ELSE kind END, author_id,
    CASE kind WHEN 1 THEN moment ELSE 0 END,
    moment
FROM posts_post WHERE kind IN (1, 2) AND deleted_at IS NULL
UNION ALL
SELECT target_author, target_moment, kind, owner_id, 0, since_ms
FROM posts_viewermark WHERE (kind = 3 OR kind >= 32) AND is_on
UNION ALL
SELECT quoted_author, quoted_moment, CASE WHEN visibility > 1 THEN 10 ELSE 9 END, author_id,
    moment, moment
FROM posts_post
WHERE quoted_author IS NOT NULL AND deleted_at IS NULL AND NOT is_quote_revoked
"""
COUNTED = {
    Kind.REPLY: CounterKind.REPLIES,
    Kind.REPOST: CounterKind.REPOSTS,
    Kind.FAVOURITE: CounterKind.FAVOURITES,
    Kind.QUOTE: CounterKind.QUOTES,
    **{Kind(number): CounterKind(number) for number in range(32, 48)},
}
TABLES = (
    "counters_counter",
    "posts_viewermark",
    "posts_post",
    "posts_publishedkey",
    "posts_response",
    "relations_backwardedge",
    "relations_forwardedge",
)


def rows_of(sql: str) -> list[tuple[int, ...]]:
    return [row for alias in settings.SHARD_ALIASES for row in fetch_all(alias, sql)]


def forward_edges() -> dict[Pair, Edge]:
    return _edges("relations_forwardedge")


def backward_edges() -> dict[Pair, Edge]:
    return _edges("relations_backwardedge")


def live_pairs() -> set[Pair]:
    edges = forward_edges()
    return {pair for pair, edge in edges.items() if edge.is_follow}


def _edges(table: str) -> dict[Pair, Edge]:
    rows = rows_of(EDGES.format(table))
    return {(r[0], r[1]): Edge(Attribute(r[2]), r[3], r[4], EdgeFlag(r[5])) for r in rows}


def counts() -> Counter[tuple[int, int]]:
    """(account, kind) → value, where it is not zero. Without the days of newest posts."""
    return Counter({(owner, kind): value for owner, kind, value in rows_of(COUNTS)})


def day_of(moment: int) -> int:
    """Days since 1970, as NEWEST_POST_DAY has them."""
    return (moment // SEQUENCES + EPOCH) // DAY_S


def assert_drained_truth() -> None:
    """Both sides of every edge are equal, and every count is the number of its rows."""
    assert backward_edges() == forward_edges()
    expected: Counter[tuple[int, int]] = Counter()
    for (follower_id, followee_id), edge in forward_edges().items():
        for kind in FORWARD_KINDS[edge.attribute]:
            expected[follower_id, kind] += 1
        for kind in BACKWARD_KINDS[edge.attribute]:
            expected[followee_id, kind] += 1
    days = {}
    for author_id, live, moment in rows_of(LIVE_POSTS):
        expected[author_id, CounterKind.POSTS] = live
        days[author_id] = day_of(moment)
    for owner_id, marked in rows_of(MARKED):
        expected[owner_id, CounterKind.VIEWER_MARKS] = marked
    for owner_id, made in rows_of(FILTERS):
        expected[owner_id, CounterKind.FILTERS] = made
    assert counts() == expected
    assert dict(rows_of(DAYS)) == days
    assert_responses_are_those_of_the_responders()


def assert_responses_are_those_of_the_responders() -> None:
    """And counts of posts are their numbers."""
    responses = rows_of(RESPONSES)
    assert sorted(responses) == sorted(rows_of(RESPONDED))
    counted = (row for row in responses if row[2] in COUNTED)
    expected = Counter((row[0], row[1], COUNTED[Kind(row[2])]) for row in counted)
    assert post_counts() == expected


def post_counts() -> Counter[tuple[int, int, int]]:
    """(author, moment, kind) → value, where it is not zero."""
    return +Counter({row[:3]: row[3] for row in rows_of(POST_COUNTS)})


def everything_written() -> dict[str, list[tuple[int, ...]]]:
    """All rows of posts, relations and counters, and the changes: to see that nothing changed."""
    rows = {table: sorted(rows_of(f"SELECT {table}::text FROM {table}")) for table in TABLES}
    changes = [
        (alias, change.pk, change.kind, change.state)
        for alias in all_aliases()
        for change in Change.objects.on(alias).order_by("pk")
    ]
    return rows | {"changes": changes}
