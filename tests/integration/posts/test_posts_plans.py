"""Plans of the queries on posts, on a table with thousands of rows as autovacuum leaves it."""

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.cache import fill_weeks, week_of
from posts.ids import SEQUENCES, PostId
from posts.queries.rows import PAST_ALL, list_timeline, read_posts
from posts.types import Draft
from tests.budgets import count_calls
from tests.plans import assert_index_only, nodes_of, settle
from tests.world import make_account

OWN, OTHERS = 20_000, 40_000
# One post a minute; every fifth is deleted; neighbours have more together.
FILL = """
INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, deleted_at)
SELECT %s, n * 60 * 1296::bigint, repeat('word ', 20), false, '', CASE n %% 5 WHEN 0 THEN now() END
FROM generate_series(1, %s) n
UNION ALL
SELECT 100000 + n %% 400 * 4, n * 1296::bigint, repeat('word ', 20), false, '', NULL
FROM generate_series(1, %s) n
"""


@pytest.fixture
def author(world):
    author_id = make_account()
    alias = shard_of(author_id)
    execute(alias, FILL, (author_id, OWN, OTHERS))
    settle(alias, "posts_post")
    return author_id


@pytest.mark.parametrize("lower", [0, 5_000 * 60 * SEQUENCES])
@pytest.mark.parametrize("upper", [PAST_ALL, 15_000 * 60 * SEQUENCES])
@pytest.mark.parametrize("newest_first", [True, False])
def test_author_timeline_reads_the_index_only(author, lower, upper, newest_first):
    with count_calls() as calls:
        assert len(list_timeline(author, lower, upper, 41, newest_first)) == 41
    (statement,) = calls.statements
    assert_index_only(statement, "post_live", 41)


def scanned(statement):
    return [n for n in nodes_of(statement) if n.get("Relation Name") == "posts_post"]


def test_posts_are_looked_up_by_key(author):
    ids = [PostId(n * 60, author, 0) for n in range(1, 400, 20)]
    with count_calls() as calls:
        assert len(read_posts(shard_of(author), ids)) == 20
    (statement,) = calls.statements
    for node in scanned(statement):
        assert node["Node Type"] == "Index Scan"
        assert node["Actual Rows"] * node["Actual Loops"] <= len(ids)


def test_week_is_one_range(author):
    week = week_of(PostId(6 * 86_400, author, 0))
    with count_calls() as calls:
        fill_weeks([week])
    (statement,) = [s for s in calls.statements if "posts_post" in s.sql]
    (scan,) = scanned(statement)
    assert scan["Node Type"] in {"Index Scan", "Bitmap Heap Scan"}
    assert scan["Actual Rows"] <= 2_001


def test_latest_moment_of_an_author_is_one_entry(author):
    with count_calls() as calls:
        create_post(author, Draft("hello"))
    (statement,) = [s for s in calls.statements if "ORDER BY moment DESC" in s.sql]
    (scan,) = scanned(statement)
    assert (scan["Node Type"], scan["Actual Rows"]) == ("Index Only Scan", 1)
