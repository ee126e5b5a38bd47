"""Plans of the queries on posts, on a table with thousands of rows as autovacuum leaves it."""

import re
from itertools import product

import pytest

from infra.api.pages import Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.actions.repost import repost
from posts.cache import viewer_state
from posts.cache.weeks import begin_weeks, fill_weeks, week_of
from posts.ids import SEQUENCES, PostId
from posts.queries.lists import RESPONDERS, VIEWER_MARKS, _encode_responder
from posts.queries.responses import read_replies
from posts.queries.row_pages import _read
from posts.queries.rows import PAST_ALL, list_newest, list_timeline, read_posts
from posts.types import Kind, PostRange
from tests.budgets import Statement, count_calls
from tests.plans import assert_index_only, nodes_of, settle
from tests.world import clean, make_account

OWN, OTHERS = 16_000, 8_000
# One post a minute; every fifth is deleted; neighbours have more together.
FILL = """
INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, deleted_at)
SELECT %s, n * 60 * 1296::bigint, repeat('word ', 20), false, '', CASE n %% 5 WHEN 0 THEN now() END
FROM generate_series(1, %s) n
UNION ALL
SELECT 100000 + n %% 400 * 4, n * 1296::bigint, repeat('word ', 20), false, '', NULL
FROM generate_series(1, %s) n
"""
# Ten thousand to one post, one to each of its author's others, of all three kinds.
RESPOND = """
INSERT INTO posts_response
    (author_id, moment, kind, responder_id, reply_moment, at, revision, is_on)
SELECT %s, 60 * 1296::bigint, kind, n, CASE kind WHEN 1 THEN n ELSE 0 END, n, 1, n %% 5 <> 0
FROM generate_series(1, 10000) n, generate_series(1, 3) kind
UNION ALL
SELECT %s, n * 60 * 1296::bigint, kind, 7, CASE kind WHEN 1 THEN n ELSE 0 END, n, 1, true
FROM generate_series(2, 10000) n, generate_series(1, 3) kind
"""
MARK = """
INSERT INTO posts_viewermark
    (owner_id, target_moment, target_author, kind, is_on, revision, since_ms)
SELECT %s, n * 1296::bigint, 7, kind, n %% 5 <> 0, 1, n
FROM generate_series(1, 10000) n, generate_series(3, 4) kind
UNION ALL
SELECT %s + 4 * n, n * 1296::bigint, 7, 3, true, 1, n FROM generate_series(1, 20000) n
"""


@pytest.fixture(scope="module")
def busy_author(databases, django_db_blocker):
    """An account with thousands of posts and marks, and a post with thousands of responses. Every
    fifth is over. The tests of this module only read: to fill the tables takes most of the time."""
    with django_db_blocker.unblock():
        clean()
        author_id = make_account()
        alias = shard_of(author_id)
        execute(alias, FILL, (author_id, OWN, OTHERS))
        for sql in (RESPOND, MARK):
            execute(alias, sql, (author_id, author_id))
        repost(author_id, reposted_by(author_id))
        settle(alias, "posts_post", "posts_response", "posts_viewermark")
        yield author_id
        clean()


def reposted_by(author_id):
    return PostId(60 * 7, author_id, 0)


@pytest.fixture
def responded(busy_author):
    """The post with the responses."""
    return PostId(60, busy_author, 0)


LOWER, UPPER = (0, 5_000 * 60 * SEQUENCES), (PAST_ALL, 15_000 * 60 * SEQUENCES)
RESPONDER_WINDOWS = (
    Window(40),
    Window(40, max_id=_encode_responder((2_000, 0))),
    Window(40, min_id="0" * 15),
)


def test_author_timeline_reads_the_index_only(busy_author):
    for lower, upper, newest_first in product(LOWER, UPPER, (True, False)):
        with count_calls() as calls:
            assert len(list_timeline(busy_author, PostRange(lower, upper, 41, newest_first))) == 41
        (statement,) = calls.statements
        assert_index_only(statement, "post_live", 41)


def test_newest_posts_of_an_author_are_read_from_the_index_only(busy_author):
    with count_calls() as calls:
        assert len(list_newest(busy_author, 81)) == 81
    (statement,) = calls.statements
    assert_index_only(statement, "post_live", 81)


def scanned(statement):
    return [n for n in nodes_of(statement) if n.get("Relation Name") == "posts_post"]


def test_posts_are_looked_up_by_key(busy_author):
    ids = [PostId(n * 60, busy_author, 0) for n in range(1, 400, 20)]
    with count_calls() as calls:
        assert len(read_posts(shard_of(busy_author), ids)) == 20
    (statement,) = calls.statements
    for node in scanned(statement):
        assert node["Node Type"] == "Index Scan"
        assert node["Actual Rows"] * node["Actual Loops"] <= len(ids)


def test_week_is_one_range(busy_author):
    week = week_of(PostId(6 * 86_400, busy_author, 0))
    with count_calls() as calls:
        fill_weeks([week], begin_weeks([week]))
    (statement,) = [s for s in calls.statements if "posts_post" in s.sql]
    (scan,) = scanned(statement)
    assert scan["Node Type"] in {"Index Scan", "Bitmap Heap Scan"}
    assert scan["Actual Rows"] <= 2_001


def test_lists_of_responders_and_own_favourites_read_the_index_only(responded):
    whose = (responded.author_id, responded.moment, Kind.REPOST)
    for window in RESPONDER_WINDOWS:
        assert_list_reads_the_index_only(RESPONDERS, whose, window, "response_list")
    mine = (responded.author_id, Kind.FAVOURITE)
    for window in (Window(40), Window(40, min_id="0" * 23)):
        assert_list_reads_the_index_only(VIEWER_MARKS, mine, window, "viewer_mark_list")


def assert_list_reads_the_index_only(listed, owner, window, index):
    with count_calls() as calls:
        assert len(_read(listed, owner, window, None, 41)) == 41
    (statement,) = calls.statements
    assert_index_only(statement, index, 41)


def test_replies_to_many_posts_are_found_by_the_index(responded):
    parents = [PostId(60 * n, responded.author_id, 0) for n in range(1, 60)]
    with count_calls() as calls:
        assert sum(map(len, read_replies(parents, 60).values())) == 60
    (statement,) = calls.statements
    scans = [n for n in nodes_of(statement) if n.get("Relation Name") == "posts_response"]
    assert [one["Index Name"] for one in scans] == ["response_list", "response_deleted_replies"]
    assert scans[0]["Node Type"] == "Index Only Scan"


def test_newest_marks_are_read_by_the_index(responded):
    with count_calls() as calls:
        viewer_state._load([responded.author_id])
    (statement,) = calls.statements
    scans = [n for n in nodes_of(statement) if n.get("Relation Name") == "posts_viewermark"]
    pins, newest = sorted(scans, key=lambda scan: scan["Index Name"])
    assert (pins["Index Name"], pins["Actual Rows"]) == ("viewer_mark_list", 0)
    assert "kind = 5" in pins["Index Cond"], "the marks of other kinds are not read"
    assert newest["Index Name"] == "viewer_mark_recent"
    assert newest["Actual Rows"] <= viewer_state.MOST_INTERACTIONS + 1


def part_of_function(pattern: str, busy_author: int, **values: int) -> Statement:
    """A query inside `posts_publish`, with values in the place of the parameters."""
    alias = shard_of(busy_author)
    row = fetch_one(alias, "SELECT prosrc FROM pg_proc WHERE proname = 'posts_publish'")
    (sql,) = re.findall(pattern, row[0], re.DOTALL)
    for name, value in {"author": busy_author, **values}.items():
        sql = re.sub(rf"(?<![.\w]){name}\b", str(value), sql)
    return Statement(alias, sql.replace("INTO post_moment", ""), ())


def test_own_repost_of_a_post_is_one_entry(busy_author):
    original = reposted_by(busy_author)
    about = {"about_moment": original.moment, "about_author": busy_author}
    statement = part_of_function(
        r"SELECT moment INTO post_moment FROM posts_post.*?;", busy_author, **about
    )
    (scan,) = scanned(statement)
    assert (scan["Index Name"], scan["Actual Rows"]) == ("post_reposted_once", 1)


def test_latest_moment_of_an_author_is_one_entry(busy_author):
    statement = part_of_function(r"SELECT moment \+ 1 FROM.*?LIMIT 1", busy_author)
    (scan,) = scanned(statement)
    assert (scan["Node Type"], scan["Actual Rows"]) == ("Index Only Scan", 1)
