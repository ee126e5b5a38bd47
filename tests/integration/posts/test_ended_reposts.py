"""Reposts end with their original: else they would count as posts that no account can see."""

from collections.abc import Callable

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.actions import end_reposts
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import PostId
from tests.callers import Caller
from tests.dying import dying_at
from tests.people import cast
from tests.truth import assert_drained_truth
from tests.world import publish

LIVE = "SELECT count(*) FROM posts_post WHERE author_id = %s AND deleted_at IS NULL"
Drain = Callable[[], int]


people = cast(6)


@pytest.fixture
def original(people: list[int]) -> PostId:
    return publish(people[0])


def count_live(author_id: int) -> int:
    ((count,),) = fetch_all(shard_of(author_id), LIVE, (author_id,))
    return count


def told(author_id: int) -> int:
    return Caller(author_id).get(f"/api/v1/accounts/{author_id}").json()["statuses_count"]


def test_reposts_of_a_deleted_post_count_no_more(
    people: list[int], original: PostId, drain: Drain
) -> None:
    author, fan, *_ = people
    kept = publish(author)
    for post in (original, kept):
        repost(fan, post)
    drain()
    assert (told(author), told(fan)) == (2, 2)
    delete_post(original)
    drain()
    assert (told(author), told(fan)) == (1, 1)
    assert (count_live(author), count_live(fan)) == (1, 1)
    assert_drained_truth()


def test_very_many_reposts_end_page_by_page(
    people: list[int], original: PostId, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_reposts, "MOST_AT_ONCE", 2)
    for fan in people[1:]:
        repost(fan, original)
    drain()
    delete_post(original)
    drain()
    assert [count_live(fan) for fan in people[1:]] == [0] * 5
    assert_drained_truth()


def test_a_death_between_two_reposts_leaves_the_rest_to_the_next_drain(
    people: list[int], original: PostId, drain: Drain
) -> None:
    for fan in people[1:]:
        repost(fan, original)
    drain()
    delete_post(original)

    with dying_at("posts.repost_ended"):
        drain()
    assert sum(count_live(fan) for fan in people[1:]) == 4
    drain()
    assert [count_live(fan) for fan in people[1:]] == [0] * 5
    assert_drained_truth()


def test_a_repost_that_comes_while_its_original_is_deleted_ends_too(
    people: list[int], original: PostId, drain: Drain
) -> None:
    """Its author was allowed to see the post, and then the post was gone."""
    delete_post(original)
    drain()
    repost(people[1], original)
    assert count_live(people[1]) == 1
    drain()
    assert (count_live(people[1]), told(people[1])) == (0, 0)
    assert_drained_truth()
