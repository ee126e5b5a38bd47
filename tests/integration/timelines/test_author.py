"""Author timelines: one account's posts by cursor."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.actions.update_profile import update_profile
from accounts.errors import AccountNotFound
from accounts.types import ProfileEdit, Restriction
from infra.api.pages import Window
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.cache import newest
from posts.cache.newest import MOST_LISTED
from posts.ids import EPOCH, PostId
from posts.queries.rows import ListedPost
from posts.reading.statuses import load_visible
from posts.types import Kind
from relations.actions.block import block
from tests.budgets import count_calls
from tests.integration.timelines.homes import ids_of
from tests.redis_away import redis_away
from tests.world import NOW, make_accounts, publish, restrict
from timelines.feeds import author as author_module
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery


def posts_of(author_id: int, count: int) -> list[PostId]:
    """Three a second, so that pages end inside seconds."""
    return [publish(author_id, clock_s=lambda n=n: EPOCH + 100 + n // 3) for n in range(count)]


def test_pages_down_and_up(world: None) -> None:
    author, other = make_accounts(2)
    posts = posts_of(author, 20)
    publish(other, clock_s=lambda: EPOCH + 101)
    expected = [post.public for post in reversed(posts)]
    found, cursor = [], None
    while True:
        page = author_page(AuthorTimelineQuery(author), Window(4, max_id=cursor))
        found += ids_of(page.items)
        cursor = page.older
        if cursor is None:
            break
    assert found == expected
    up, cursor = [], PostId(0, 0, 0).public
    while items := ids_of(author_page(AuthorTimelineQuery(author), Window(4, min_id=cursor)).items):
        up, cursor = items + up, items[0]
    assert up == expected


def test_a_cursor_of_somebody_elses_post_is_a_place_in_time(world: None) -> None:
    author, other = make_accounts(2)
    early, late = (publish(author, clock_s=lambda s=s: EPOCH + s) for s in (100, 102))
    mark = publish(other, clock_s=lambda: EPOCH + 101)
    assert ids_of(
        author_page(AuthorTimelineQuery(author), Window(9, max_id=mark.public)).items
    ) == [early.public]
    assert ids_of(
        author_page(AuthorTimelineQuery(author), Window(9, since_id=mark.public)).items
    ) == [late.public]
    assert ids_of(
        author_page(AuthorTimelineQuery(author), Window(9, min_id=mark.public)).items
    ) == [late.public]


def test_deleted_posts_are_not_listed(world: None) -> None:
    (author,) = make_accounts(1)
    posts = posts_of(author, 3)
    delete_post(posts[1])
    assert ids_of(author_page(AuthorTimelineQuery(author), Window(9)).items) == [
        posts[2].public,
        posts[0].public,
    ]


@pytest.mark.parametrize("window", [Window(20), Window(3), Window(20, since_id="1")])
def test_a_warm_page_costs_one_round_trip_and_no_query(world: None, window: Window) -> None:
    author, reader = make_accounts(2)
    for _ in range(10):
        publish(author)
    for viewer in (None, reader):
        query = AuthorTimelineQuery(author, viewer)
        for _ in range(2):
            author_page(query, window)
        with count_calls() as calls:
            assert len(author_page(query, window).items) == min(10, window.limit)
        assert not calls.sql
        assert calls.round_trips == 1


def test_the_first_page_after_a_post_costs_one_query(world: None) -> None:
    author, reader = make_accounts(2)
    query = AuthorTimelineQuery(author, reader)
    for _ in range(2):
        publish(author)
        author_page(query, Window(20))
    post = publish(author)
    with count_calls() as calls:
        page = author_page(query, Window(20))
    assert ids_of(page.items)[0] == post.public
    assert sum(calls.sql.values()) == 1
    assert calls.round_trips == 5


def test_posts_below_the_list_in_memory_are_listed_by_the_shard(world: None) -> None:
    (author,) = make_accounts(1)
    query = AuthorTimelineQuery(author)
    posts = posts_of(author, MOST_LISTED + 5)[::-1]
    author_page(query, Window(20))
    last = posts[MOST_LISTED - 10].public
    page = author_page(query, Window(40, max_id=last))
    assert ids_of(page.items) == [post.public for post in posts[MOST_LISTED - 9 :]]
    oldest = author_page(query, Window(40, min_id="1"))
    assert ids_of(oldest.items) == [post.public for post in posts[-40:]]


def test_a_post_during_a_load_is_on_the_next_page(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list was read before the post, and comes to be written after it."""
    (author,) = make_accounts(1)
    query, posts = AuthorTimelineQuery(author), [publish(author)]
    read = newest.list_newest

    def read_and_publish(author_id: int, limit: int) -> list[ListedPost]:
        listed = read(author_id, limit)
        posts.append(publish(author))
        return listed

    with monkeypatch.context() as patch:
        patch.setattr(newest, "list_newest", read_and_publish)
        assert ids_of(author_page(query, Window(20)).items) == [posts[0].public]
    assert ids_of(author_page(query, Window(20)).items) == [posts[1].public, posts[0].public]


def test_pages_without_redis_have_the_posts_of_the_shard(world: None) -> None:
    (author,) = make_accounts(1)
    query, kept, deleted = AuthorTimelineQuery(author), publish(author), publish(author)
    for _ in range(2):
        author_page(query, Window(20))

    with redis_away():
        delete_post(deleted)
        new = publish(author)
        assert ids_of(author_page(query, Window(20)).items) == [new.public, kept.public]


def test_an_unknown_account_has_no_page(world: None) -> None:
    for window in (Window(20), Window(20, max_id="9999999999")):
        for _ in range(2):
            with pytest.raises(AccountNotFound):
                author_page(AuthorTimelineQuery(999_999_999), window)


def test_each_viewer_has_a_page_of_its_own(world: None, drain: Any) -> None:
    """With each viewer's flags, and without authors whom one of them has blocked."""
    author, other, fan, blocker = make_accounts(4)
    plain, original = publish(author), publish(other)
    event = repost(author, original)
    mark_post(fan, plain, Kind.FAVOURITE, True)
    mark_post(fan, original, Kind.BOOKMARK, True)
    block(blocker, other)
    drain()
    shown = {event: original, plain: plain}
    expected = {viewer: list(load_visible(shown, viewer).values()) for viewer in (None, fan)}
    expected[blocker] = [load_visible({plain: plain}, blocker)[plain]]
    assert b'"favourited":true' in expected[fan][1] and b'"bookmarked":true' in expected[fan][0]
    for _ in range(2):
        for viewer, page in expected.items():
            assert author_page(AuthorTimelineQuery(author, viewer), Window(20)).items == page


def test_what_another_thread_remembers_meanwhile_is_not_judged_by_older_authors(
    world: None, drain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new batch has an author whom the viewer blocks, and whom the older one did not have."""
    author, blocked, viewer, fan = make_accounts(4)
    plain, original = publish(author), publish(blocked)
    block(viewer, blocked)
    query = AuthorTimelineQuery(author, viewer)
    monkeypatch.setattr(author_module, "now_ms", lambda: 1)  # both requests began together
    for _ in range(3):
        author_page(query, Window(20))
    peek = author_module._batches.peek

    def peek_slowly(*arguments: Any) -> Any:
        known = peek(*arguments)
        monkeypatch.setattr(author_module._batches, "peek", peek)
        repost(author, original)
        drain()
        for _ in range(2):
            assert len(author_page(query._replace(viewer_id=fan), Window(20)).items) == 2
        return known

    monkeypatch.setattr(author_module._batches, "peek", peek_slowly)
    assert ids_of(author_page(query, Window(20)).items) == [plain.public]


@pytest.mark.parametrize("shown", ["plain", "event", "original"])
def test_a_deleted_post_ends_the_page_that_was_kept(world: None, drain: Any, shown: str) -> None:
    author, other = make_accounts(2)
    posts = {"plain": publish(author), "original": publish(other)}
    posts["event"] = repost(author, posts["original"])
    drain()
    query = AuthorTimelineQuery(author)
    for _ in range(3):
        assert len(author_page(query, Window(20)).items) == 2
    delete_post(posts[shown])
    left = posts["event" if shown == "plain" else "plain"]
    assert ids_of(author_page(query, Window(20)).items) == [left.public]


def hide(other: int, original: PostId) -> None:
    hide_post(original, NOW, revision=1)


def suspend(other: int, original: PostId) -> None:
    restrict(other, Restriction.SUSPENDED)


def limit(other: int, original: PostId) -> None:
    restrict(other, Restriction.LIMITED)


@pytest.mark.parametrize("act", [hide, suspend, limit])
def test_a_moderators_decision_ends_the_page_that_was_kept(
    world: None, drain: Any, act: Callable[[int, PostId], None]
) -> None:
    author, other, viewer = make_accounts(3)
    original, plain = publish(other), publish(author)
    repost(author, original)
    drain()
    queries = [AuthorTimelineQuery(author), AuthorTimelineQuery(author, viewer)]
    for query in queries * 3:
        assert len(author_page(query, Window(20)).items) == 2
    act(other, original)
    for query in queries:
        assert ids_of(author_page(query, Window(20)).items) == [plain.public]


def test_a_new_name_of_the_reposter_is_on_the_next_page(world: None, drain: Any) -> None:
    author, other = make_accounts(2)
    repost(author, publish(other))
    drain()
    query = AuthorTimelineQuery(author)
    for _ in range(3):
        author_page(query, Window(20))
    update_profile(author, ProfileEdit(display_name="Renamed"))
    (status,) = author_page(query, Window(20)).items
    assert b'"display_name":"Renamed"' in status
