"""Recounts and rebuilds reach the counts of posts too: a subject is not always an account."""

import pytest

from counters.kinds import CounterKind
from counters.management.commands.rebuild_count_cache import Command as Rebuild
from counters.management.commands.recount_counters import Command as Recount
from infra.caching.client import redis
from infra.caching.values import Versioned
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.mark_post import mark_post
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.types import Kind
from tests.budgets import count_calls
from tests.cached_values import write_values
from tests.integration.jobs.outcomes import Outcome
from tests.world import drain_all, make_accounts, publish

SPOIL = "UPDATE counters_counter SET value = 9 WHERE owner_id = %s AND subject = %s AND kind = %s"


@pytest.fixture
def post(world):
    """A post with two favourites, whose counts are cached."""
    ann, *others = make_accounts(3)
    post = publish(ann)
    for other in others:
        mark_post(other, post, Kind.FAVOURITE, True)
    drain_all()
    assert shown(post) == b"0,0,2,0"
    return post


def shown(post) -> bytes:
    return post_counts.load_many([number_of(post)])[number_of(post)]


def test_count_of_a_post_is_mended_and_shown_right(post):
    where = (post.author_id, post.moment, int(CounterKind.FAVOURITES))
    assert execute(shard_of(post.author_id), SPOIL, where) == 1
    line = f"account {post.author_id}/{post.moment} FAVOURITES: 9 -> 2"
    assert Outcome(Recount()).out.splitlines()[0] == line
    assert Outcome(Recount()).out.endswith(" 0 changed, 0 failed\n")
    assert shown(post) == b"0,0,2,0"


def test_cached_counts_of_a_post_are_laid_anew(post):
    write_values(post_counts, {number_of(post): Versioned(99, b"7,7,7,7")})
    assert shown(post) == b"7,7,7,7"
    key = post_counts.key(number_of(post)).decode()
    assert Outcome(Rebuild()).out.splitlines()[0] == f"{key}: 7,7,7,7 -> 0,0,2,0"
    assert shown(post) == b"0,0,2,0"


def test_all_counts_of_many_posts_are_one_round_trip_when_warm_else_a_query_a_shard(world):
    posts = [publish(author) for author in make_accounts(20)]
    drain_all()
    redis().call("FLUSHDB")
    with count_calls() as cold:
        found = post_counts.load_many(map(number_of, posts))
    assert (set(cold.sql.values()), found) == ({1}, {number_of(p): b"0,0,0,0" for p in posts})
    with count_calls() as warm:
        assert post_counts.load_many(map(number_of, posts)) == found
    assert (warm.sql.total(), warm.round_trips) == (0, 1)
