"""Whole answers that a process remembers: a post, relationships, followers."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpResponse

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.actions.mark_post import mark_post
from posts.filters.actions.edit_filters import edit_filters
from posts.filters.types import FilterEdit, KeywordEdit
from posts.queries.rows import read_posts
from posts.types import Draft, Kind, Visibility
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.actions.write_note import write_note
from tests.budgets import count_calls
from tests.callers import Caller
from tests.redis_away import redis_away
from tests.world import drain_all, forget_memory, make_accounts


class Town:
    """A reader who follows ann and not bob; ann has a post."""

    def __init__(self) -> None:
        self.me, self.ann, self.bob = make_accounts(3)
        follow(self.me, self.ann)
        self.post = create_post(self.ann, Draft("hello", visibility=Visibility.PRIVATE))
        drain_all()
        self.caller, self.other = Caller(self.me), Caller(self.bob)
        self.paths = {
            "post": f"/api/v1/statuses/{self.post.public}",
            "followers": f"/api/v1/accounts/{self.ann}/followers",
            "relationships": f"/api/v1/accounts/relationships?id[]={self.ann}&id[]={self.bob}",
        }

    def read(self, name: str, tag: str = "") -> HttpResponse:
        headers = {"If-None-Match": tag} if tag else {}
        answer: HttpResponse = self.caller.client.get(self.paths[name], headers=headers)
        return answer

    def warm(self, name: str) -> bytes:
        """The first read loads, and the third one is served from memory."""
        return [self.read(name).content for _ in range(3)][-1]


@pytest.fixture
def town(world: None) -> Iterator[Town]:
    yield Town()


def edit(town: Town) -> None:
    (row,) = read_posts(shard_of(town.ann), [town.post])
    edit_post(row, Draft("another text"))


def hide_by_filter(town: Town) -> None:
    keywords = [KeywordEdit(keyword="hello")]
    edit_filters(town.me, lambda book: book.create(FilterEdit(title="hello", keywords=keywords)))


CHANGES: dict[str, dict[str, Callable[[Town], object]]] = {
    "post": {
        "it is edited": edit,
        "it is deleted": lambda town: delete_post(town.post),
        "I favourite it": lambda town: mark_post(town.me, town.post, Kind.FAVOURITE, True),
        "another favourite": lambda town: mark_post(town.ann, town.post, Kind.FAVOURITE, True),
        "the author's name": lambda town: update_profile(town.ann, ProfileEdit(display_name="A")),
        "the author's followers": lambda town: follow(town.bob, town.ann),
        "I follow no more": lambda town: unfollow(town.me, town.ann),
        "the author blocks me": lambda town: block(town.ann, town.me),
        "a filter of mine": hide_by_filter,
    },
    "followers": {
        "one more": lambda town: follow(town.bob, town.ann),
        "one less": lambda town: unfollow(town.me, town.ann),
        "a name": lambda town: update_profile(town.me, ProfileEdit(display_name="M")),
        "they are hidden": lambda town: update_profile(
            town.ann, ProfileEdit(hides_collections=True)
        ),
    },
    "relationships": {
        "I follow": lambda town: follow(town.me, town.bob),
        "I follow no more": lambda town: unfollow(town.me, town.ann),
        "one follows me": lambda town: follow(town.bob, town.me),
        "one blocks me": lambda town: block(town.bob, town.me),
        "I mute": lambda town: mute(town.me, town.ann),
        "I write a note": lambda town: write_note(town.me, town.bob, "from school"),
    },
}
ALL = [(name, change) for name, changes in CHANGES.items() for change in changes]


@pytest.mark.parametrize("name", CHANGES)
def test_an_answer_is_used_again_after_one_round_trip(town: Town, name: str) -> None:
    before = town.warm(name)
    with count_calls() as calls:
        assert town.read(name).content == before
    assert (calls.statements, calls.round_trips) == ([], 1)


@pytest.mark.parametrize(("name", "change"), ALL)
def test_a_change_shows_at_the_next_read(town: Town, name: str, change: str) -> None:
    before = town.warm(name)
    CHANGES[name][change](town)
    drain_all()
    after = town.read(name).content
    assert after != before
    forget_memory()
    assert town.read(name).content == after, "what a process without memory reads"


def test_each_caller_has_their_own_answers(town: Town) -> None:
    town.warm("post")
    for _ in range(3):
        assert town.other.get(town.paths["post"]).status_code == 404, "it is for followers"


def test_each_tag_of_a_client_has_its_own_answer(town: Town) -> None:
    town.warm("post")
    tag = town.read("post")["ETag"]
    assert [town.read("post", tag).status_code for _ in range(3)] == [304] * 3
    assert town.read("post").status_code == 200
    edit(town)
    assert town.read("post", tag).status_code == 200


def test_headers_with_the_quota_are_not_remembered(town: Town) -> None:
    town.warm("post")
    left = [int(town.read("post")["X-RateLimit-Remaining"]) for _ in range(2)]
    assert left[0] - left[1] == 1


def test_a_mute_that_ends_ends_the_answer(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    ends_ms = now_ms() + 20_000
    mute(town.me, town.ann, duration_s=20, clock_ms=lambda: ends_ms - 20_000)
    assert b'"muting":true' in town.warm("relationships")
    for module in ("infra.caching.remembered_answers", "relations.api.views.relationships"):
        monkeypatch.setattr(f"{module}.now_ms", lambda: ends_ms)
    assert b'"muting":true' not in town.read("relationships").content


def test_without_redis_nothing_remembered_is_used(town: Town) -> None:
    town.warm("post")
    with redis_away():
        delete_post(town.post)
        assert town.read("post").status_code == 404


def test_an_error_is_not_remembered(town: Town) -> None:
    hidden: Any = [town.other.get(town.paths["post"]).status_code for _ in range(3)]
    assert hidden == [404] * 3
    follow(town.bob, town.ann)
    drain_all()
    assert town.other.get(town.paths["post"]).status_code == 200
