"""A plain home page is made again from its ids, and is what the stores would give any process."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from infra.api.pages import Page, Window
from infra.clock import now_ms
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.cache.in_process import in_process_posts
from posts.ids import PostId
from posts.types import Kind
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.timelines.homes import ids_of, newest_first
from tests.world import drain_all, forget_memory, make_accounts, publish, rest
from timelines.queries import home, kept_pages
from timelines.queries.home import home_page
from timelines.queries.kept_pages import KEPT_MS
from timelines.stores.factory import STORES, timeline_store
from timelines.types import Entry

FIRST = Window(5)
DAY_S = 86_400


class Reader:
    """I follow a friend and another one, who posted by turns, and someone without posts.

    My page has five posts, one of them mine, and there are three older ones.
    """

    def __init__(self) -> None:
        self.me, self.friend, self.other, self.silent, self.stranger = make_accounts(5)
        for one in (self.friend, self.other, self.silent):
            follow(self.me, one)
        self.begun = time.time() - DAY_S
        authors = (self.friend, self.other) * 3 + (self.me, self.friend)
        self.posts = [self.post(author, 60 * turn) for turn, author in enumerate(authors)]
        self.made = 0
        self.look()

    def post(self, author: int, after_s: float) -> PostId:
        """A post of so many seconds after the first one, delivered."""
        post = publish(author, clock_s=lambda: self.begun + after_s)
        drain_all()
        return post

    def look(self, window: Window = FIRST) -> Page[bytes]:
        """Twice: the first read finishes the entities that the second one makes its page of."""
        rest()
        home_page(self.me, window)
        return home_page(self.me, window)

    def top(self, *posts: PostId) -> list[str]:
        """The page with these posts, too."""
        return newest_first(*self.posts, *posts)[: FIRST.limit]


@pytest.fixture
def reader(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """`made` counts the pages that are made as usual."""
    kept_pages._pages.clear()
    one, load_page = Reader(), home.load_page

    def counted(*arguments: Any) -> Page[bytes]:
        one.made += 1
        return load_page(*arguments)

    monkeypatch.setattr(home, "load_page", counted)
    yield one
    kept_pages._pages.clear()


def read_and_compare(reader: Reader) -> Page[bytes]:
    """The page, which must be the same, byte for byte, without process memory."""
    rest()
    page, made = home_page(reader.me, FIRST), reader.made
    forget_memory()
    assert home_page(reader.me, FIRST) == page
    reader.made = made
    return page


def test_a_new_post_is_put_on_top(reader: Reader) -> None:
    new = reader.post(reader.silent, 3_600)
    page = read_and_compare(reader)
    assert ids_of(page.items) == reader.top(new)
    assert (page.newer, page.older) == (new.public, ids_of(page.items)[-1])
    assert reader.made == 0


def test_posts_of_a_burst_are_put_on_top_one_after_the_other(reader: Reader) -> None:
    burst = []
    for turn in range(3):
        burst.append(reader.post((reader.friend, reader.silent, reader.other)[turn], 3_600 + turn))
        rest()
        assert ids_of(home_page(reader.me, FIRST).items) == reader.top(*burst)
    assert reader.made == 0
    read_and_compare(reader)


def test_a_page_that_was_made_again_is_kept(reader: Reader) -> None:
    reader.post(reader.silent, 3_600)
    rest()
    again = home_page(reader.me, FIRST)
    assert home_page(reader.me, FIRST) is again


def test_a_page_that_was_made_again_ends_with_the_one_before(reader: Reader) -> None:
    now = now_ms()
    reader.post(reader.silent, 3_600)
    rest()
    home_page(reader.me, FIRST, clock_ms=lambda: now + KEPT_MS // 2)
    assert reader.made == 0
    home_page(reader.me, FIRST, clock_ms=lambda: now + KEPT_MS)
    assert reader.made == 1, "a page does more than to answer"


def test_a_post_that_arrived_late_is_put_in_its_place(reader: Reader) -> None:
    late = reader.post(reader.silent, 60 * 6 + 30)
    assert ids_of(read_and_compare(reader).items) == reader.top(late)
    assert reader.made == 0


def test_a_post_below_the_page_leaves_it(reader: Reader) -> None:
    reader.post(reader.silent, 30)
    assert ids_of(read_and_compare(reader).items) == reader.top()
    assert reader.made == 1, "what is below is not known here"


def test_an_entry_that_is_pushed_again_changes_nothing(reader: Reader) -> None:
    again = Entry.of_post(reader.posts[-1])
    timeline_store().push({reader.me: [again]})
    assert ids_of(read_and_compare(reader).items) == reader.top()
    assert reader.made == 0


def test_new_counts_show(reader: Reader) -> None:
    mark_post(reader.other, reader.posts[-1], Kind.FAVOURITE, True)
    drain_all()
    in_process_posts.end_all_entities()
    page = read_and_compare(reader)
    assert b'"favourites_count":1' in page.items[0]
    assert reader.made == 0


def test_the_readers_own_flags_show_on_a_new_post(reader: Reader) -> None:
    new = reader.post(reader.silent, 3_600)
    mark_post(reader.me, new, Kind.FAVOURITE, True)
    drain_all()
    assert b'"favourited":true' in read_and_compare(reader).items[0]
    newer = reader.post(reader.silent, 3_700)
    page = read_and_compare(reader)
    assert ids_of(page.items) == reader.top(new, newer)
    assert b'"favourited":true' in page.items[1]


def repost_of_a_stranger(reader: Reader) -> None:
    post = reader.post(reader.stranger, 3_600)
    repost(reader.friend, post, clock_s=lambda: reader.begun + 3_700)


def mute_of_an_author(reader: Reader) -> None:
    mute(reader.me, reader.other)


def deletion(reader: Reader) -> None:
    delete_post(reader.posts[-1])


def follow_of_another(reader: Reader) -> None:
    reader.post(reader.stranger, 3_600)
    follow(reader.me, reader.stranger)


@pytest.mark.parametrize(
    "change", [repost_of_a_stranger, mute_of_an_author, deletion, follow_of_another]
)
def test_other_changes_show(reader: Reader, change: Callable[[Reader], None]) -> None:
    change(reader)
    drain_all()
    assert ids_of(read_and_compare(reader).items) != reader.top()
    assert reader.made == 1


def test_a_post_of_someone_who_is_muted_for_a_time_is_not_put_on_top(reader: Reader) -> None:
    mute(reader.me, reader.silent, duration_s=3_600)
    drain_all()
    reader.look()
    reader.post(reader.silent, 3_600)
    assert ids_of(read_and_compare(reader).items) == reader.top()
    assert reader.made > 0


def test_a_push_that_was_overtaken_by_an_unfollow_is_not_shown(reader: Reader) -> None:
    late = Entry.of_post(reader.post(reader.stranger, 3_600))
    timeline_store().push({reader.me: [late]})
    assert ids_of(read_and_compare(reader).items) == reader.top()


def test_a_new_post_is_filtered(reader: Reader) -> None:
    keywords = [{"keyword": "hello"}]
    body = {"title": "no", "context": ["home"], "keywords_attributes": keywords}
    assert Caller(reader.me).post("/api/v2/filters", body).status_code == 200
    drain_all()
    reader.look()
    assert reader.look() is reader.look()
    reader.post(reader.silent, 3_600)
    assert b'"keyword_matches":["hello"]' in read_and_compare(reader).items[0]


def test_the_page_of_a_whole_timeline_has_no_older_one(reader: Reader) -> None:
    whole = Window(len(reader.posts) + 1)
    reader.look(whole)
    reader.made = 0
    posts = [*reader.posts, reader.post(reader.silent, 3_600)]
    rest()
    page = home_page(reader.me, whole)
    assert (ids_of(page.items), page.older) == (newest_first(*posts), None)
    posts.append(reader.post(reader.silent, 3_700))
    rest()
    page = home_page(reader.me, whole)
    assert ids_of(page.items) == newest_first(*posts)[:-1]
    assert (page.older, reader.made) == (ids_of(page.items)[-1], 0)


def test_a_page_with_a_repost_is_not_plain(reader: Reader) -> None:
    repost(reader.friend, reader.posts[0], clock_s=lambda: reader.begun + 3_600)
    drain_all()
    reader.look()
    reader.made = 0
    new = reader.post(reader.silent, 3_700)
    assert ids_of(read_and_compare(reader).items)[0] == new.public
    assert reader.made == 1


def test_a_page_is_made_as_usual_when_its_time_has_ended(reader: Reader) -> None:
    """It also cuts old entries and asks for repairs."""
    reader.post(reader.silent, 3_600)
    rest()
    kept = home_page(reader.me, FIRST)
    assert reader.made == 0
    later = int(time.time() * 1000) + kept_pages.KEPT_MS
    assert home_page(reader.me, FIRST, clock_ms=lambda: later) == kept
    assert reader.made == 1


def test_the_second_reader_of_a_new_post_asks_nothing_more(reader: Reader) -> None:
    """One round trip, as for a page that is known."""
    new = reader.post(reader.silent, 3_600)
    rest()
    home_page(reader.silent, FIRST)
    with count_calls() as calls:
        page = home_page(reader.me, FIRST)
    assert ids_of(page.items) == reader.top(new)
    assert (calls.statements, calls.round_trips) == ([], 1)


@pytest.mark.parametrize("store", STORES)
def test_pages_of_every_store_are_right(world: None, settings: Any, store: str) -> None:
    settings.TIMELINE_STORE = store
    timeline_store.cache_clear()
    reader = Reader()
    new = reader.post(reader.silent, 3_600)
    late = reader.post(reader.silent, 60 * 6 + 30)
    assert ids_of(read_and_compare(reader).items) == reader.top(new, late)
    timeline_store.cache_clear()
