"""What a reader was shown stays, also if its push to the live timeline comes much later."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.api.pages import Window
from infra.caching.single import SingleClient
from infra.changes import failpoints
from posts.ids import PostId
from relations.actions.follow import follow
from tests.integration.timelines.homes import at, first_page, ids_of
from tests.integration.timelines.stars import Fans
from tests.redis_away import wait_for_redis
from tests.world import drain_all, forget_memory, make_accounts, publish
from timelines.actions import rebuild_timeline
from timelines.feeds.public import public_page
from timelines.home.page import home_page
from timelines.recent.actions.index_posts import index_recent
from timelines.stores import overtaken
from timelines.stores.factory import timeline_store
from timelines.stores.tiered import TieredStore
from timelines.types import Entry


# One that keeps timelines in Redis, and one that has rows below it.
@pytest.fixture(params=["packed", "tiered"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(settings, "TIMELINE_STORE", request.param)
    timeline_store.cache_clear()
    yield request.param
    timeline_store.cache_clear()


@pytest.fixture
def pair(world: None) -> tuple[int, int]:
    """A reader with a live timeline, and an author that the reader follows."""
    pair, author = make_accounts(2)
    follow(pair, author)
    publish(author)
    drain_all()
    first_page(pair)
    return pair, author


def publish_unpushed(author: int, **clock: Any) -> str:
    """All shards have indexed the post. Its push waits."""
    post = publish(author, **clock)
    for alias in settings.SHARD_ALIASES:
        index_recent(alias, [Entry.of_post(post)])
    return post.public


def push_to_rows(pair: int, post: str) -> None:
    store = timeline_store()
    assert isinstance(store, TieredStore)
    store._cold.push({pair: [Entry.of_post(PostId.from_public(post))]})


@contextmanager
def without_redis(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For this process only. Afterwards it uses Redis again, and has forgotten what it knew."""

    def refuse(*_: object) -> None:
        raise RedisConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(SingleClient, "run", refuse)
        yield
    wait_for_redis()
    forget_memory()


def test_what_the_shards_showed_stays_when_redis_is_back(
    store: str, pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    me, author = pair
    with without_redis(monkeypatch):
        post = publish_unpushed(author)
        if store == "tiered":  # its rows are read without Redis, and pushed to
            push_to_rows(me, post)
        shown = first_page(me)
    assert post in shown
    assert first_page(me) == shown


def test_it_stays_for_all_readers_however_many_they_are(
    pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overtaken, "BATCH_SIZE", 2)
    _, author = pair
    readers = make_accounts(5)
    for one in readers:
        follow(one, author)
    drain_all()
    for one in readers:
        first_page(one)
    with without_redis(monkeypatch):
        post = publish_unpushed(author)
        assert all(post in first_page(one) for one in readers)
    assert all(post in first_page(one) for one in readers)


def test_a_timeline_that_was_not_shown_without_redis_is_kept(
    pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    me, author = pair
    with without_redis(monkeypatch):
        post = publish_unpushed(author)
    assert post not in first_page(me), "it is still read, and has no push yet"


def test_a_page_that_loses_redis_in_its_build_is_not_taken_back(
    pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has built the timeline before the post was indexed."""
    me, author = pair
    begin = rebuild_timeline.timeline_store().begin_build
    monkeypatch.setattr(failpoints, "_armed", {})
    timeline_store().drop(me)
    with monkeypatch.context() as patch:

        def lose(*of_build: int) -> None:
            patch.setattr(timeline_store(), "begin_build", begin)
            first_page(me)
            publish_unpushed(author)
            raise RedisConnectionError

        patch.setattr(timeline_store(), "begin_build", lose)
        shown = first_page(me)
    assert len(shown) == 2
    wait_for_redis()
    assert first_page(me) == shown


def test_a_build_that_was_taken_over_gives_what_it_showed(
    store: str, pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other build reads the shards before the post is indexed, and this one after it."""
    me, author = pair
    compute = rebuild_timeline.compute_timeline
    timeline_store().drop(me)
    finishing: list[Callable[[], object]] = []

    def overtake(*of_reader: Any) -> Any:
        timeline_store().begin_build(me, epoch := 7)
        other = compute(*of_reader)
        finishing.append(partial(timeline_store().finish_build, me, epoch, other))
        publish_unpushed(author)
        return compute(*of_reader)

    with monkeypatch.context() as patch:
        patch.setattr(rebuild_timeline, "compute_timeline", overtake)
        shown = first_page(me)
    assert len(shown) == 2
    assert finishing[0]()
    assert first_page(me) == shown


def test_a_page_of_newer_posts_shows_none_that_the_first_page_lacks(
    tiny_timelines: None, world: None
) -> None:
    """Its cursor is below the live timeline, so its older posts come from the shards."""
    me, author = make_accounts(2)
    follow(me, author)
    posts = [publish(author, clock_s=at(second)) for second in range(100, 120)]
    drain_all()
    first_page(me)
    late = publish_unpushed(author, clock_s=at(200))
    newer = ids_of(home_page(me, Window(40, min_id=posts[0].public)).items)
    assert newer == [post.public for post in reversed(posts[1:])]
    assert late not in first_page(me)


def test_the_public_timeline_keeps_what_it_showed(
    pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its list in Redis is from before, and is used for ten seconds."""

    def public() -> list[str]:
        return ids_of(public_page(None, Window(20)).items)

    before = public()
    with without_redis(monkeypatch):
        post = publish_unpushed(pair[1])
        assert public() == [post, *before]
    assert public() == [post, *before]


def test_a_hot_authors_posts_stay_when_redis_is_back(
    store: str, fans: Fans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Redis, stores with rows read the author's posts, and the others compute the page."""
    fans.heat()
    fans.post()
    drain_all()
    first_page(fans.me)
    with without_redis(monkeypatch):
        post = publish_unpushed(fans.star)
        assert post in first_page(fans.me)
    assert post in first_page(fans.me)
