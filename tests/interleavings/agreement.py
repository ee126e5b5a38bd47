"""What must hold when the actors of a schedule have ended, and when all changes are delivered."""

from collections.abc import Iterable, Sequence
from itertools import permutations

from counters.cache import account_counts
from infra.api.pages import Window
from infra.changes.models import Change
from infra.sharding.buckets import group_by_shard
from infra.sharding.shards import all_aliases
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.fragments.places import for_viewer
from posts.fragments.present import encode_post
from posts.ids import PostId
from posts.queries.rows import read_posts
from posts.reading.statuses import load_status_json
from posts.types import Kind
from tests.cached_lists import assert_cached_lists_agree
from tests.contradictions import assert_no_contradiction
from tests.integration.relations.relationship_rows import assert_as_the_rows
from tests.integration.timelines.homes import first_page, ids_of
from tests.oracle import Oracle
from tests.truth import assert_drained_truth, live_pairs, rows_of
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery

POSTS = """
SELECT author_id, moment, kind, target_author, target_moment FROM posts_post
WHERE deleted_at IS NULL
"""
DELETED = "SELECT author_id, moment FROM posts_post WHERE deleted_at IS NOT NULL"
MOST_SHOWN = 40


def assert_acknowledged(people: Sequence[int]) -> None:
    """All writes were answered, and the drain has delivered some or none of them.

    Caches agree with the rows of their shard. Pages lack everything that was taken away.
    """
    assert_caches_agree(people)
    oracle = read_oracle()
    for one in people:
        shown = set(first_page(one, MOST_SHOWN))
        assert shown <= set(oracle.home(one)), ("home", one)
        deleted = [PostId.at(*row) for row in rows_of(DELETED)]
        assert not load_status_json(deleted, one), "a deleted post is shown"


def assert_delivered(people: Sequence[int]) -> None:
    """All changes were delivered: the sides of relations agree, and pages have all they should."""
    assert_all_delivered()
    assert_drained_truth()
    assert_caches_agree(people)
    for viewer, other in permutations(people, 2):
        assert_no_contradiction(viewer, other)
    assert_pages_agree(people)


def assert_caches_agree(people: Sequence[int]) -> None:
    """Cached lists, relationships and counts are those of the rows."""
    assert_cached_lists_agree(list(people))
    assert_as_the_rows(*people)
    assert_counts_agree(people)
    assert_texts_agree()


def assert_all_delivered() -> None:
    """No change is pending or parked."""
    for alias in all_aliases():
        assert not list(Change.objects.on(alias)), alias


def assert_counts_agree(people: Iterable[int]) -> None:
    """Cached counts of accounts and posts are those of the rows."""
    posts = [number_of(PostId.at(*row[:2])) for row in rows_of(POSTS)]
    for cache, owners in ((account_counts, list(people)), (post_counts, posts)):
        expected = {owner: one.payload for owner, one in cache.load(owners).items() if one.payload}
        assert cache.load_many(owners) == expected, cache.family


def assert_texts_agree() -> None:
    """Posts are shown to guests with the texts of their rows."""
    ids = [PostId.at(*row[:2]) for row in rows_of(POSTS) if row[2] != Kind.REPOST]
    shown = load_status_json(ids)
    for alias, authors in group_by_shard({i.author_id for i in ids}).items():
        for row in read_posts(alias, [i for i in ids if i.author_id in authors]):
            text = for_viewer(encode_post(row), None, row.author_id)
            assert text in shown[PostId.at(row.author_id, row.moment)]


def assert_pages_agree(people: Iterable[int]) -> None:
    """Homes and author timelines are those of the oracle."""
    oracle = read_oracle()
    for one in people:
        assert first_page(one, MOST_SHOWN) == oracle.home(one), ("home", one)
        page = author_page(AuthorTimelineQuery(one, one), Window(MOST_SHOWN))
        assert len(ids_of(page.items)) == len(oracle.posts(one)), ("author timeline", one)


def read_oracle() -> Oracle:
    """An oracle of the follows and posts in the rows."""
    oracle = Oracle()
    for follower, followee in live_pairs():
        oracle.follow(follower, followee, 0)
    for author, moment, kind, *target in rows_of(POSTS):
        post_id = PostId.at(author, moment).public
        if kind == Kind.REPOST:
            oracle.repost(author, post_id, PostId.at(*target).public)
        else:
            oracle.publish(author, post_id)
    return oracle
