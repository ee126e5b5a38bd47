"""Random histories: pages from finished entities are, byte for byte, those without memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.actions.update_profile import update_profile
from accounts.errors import AccountNotFound
from accounts.queries import in_process
from accounts.types import ProfileEdit
from infra.api.pages import Page, Window
from infra.caching.short_lived import ShortLived
from infra.read_window import enter_read, leave_read
from infra.sharding.buckets import shard_of
from posts.actions.edit_post import edit_post
from posts.cache import counts, newest
from posts.cache.by_author import PostsByAuthor
from posts.cache.in_process import MOST_POSTS, in_process_posts
from posts.queries.rows import ALL_KINDS, read_posts
from posts.queries.statuses import load_status_json
from posts.types import Draft, Kind
from relations.actions.mute import mute, unmute
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.test_histories import History, person, step
from tests.world import clean, rest
from timelines.queries import author_batches, kept_author_pages, kept_pages
from timelines.queries.author import author_page
from timelines.queries.author_batches import AuthorTimelineQuery
from timelines.queries.home import home_page

# The kinds of posts, and the cursors that are at a post in the middle.
AUTHOR_PAGES = (
    (ALL_KINDS, ()),
    ((Kind.POST,), ()),
    ((Kind.POST, Kind.REPLY), ("max_id",)),
    (ALL_KINDS, ("min_id",)),
    (ALL_KINDS, ("since_id",)),
)
steps = st.one_of(
    step,
    step_of("rename", person, st.integers(0, 3)),
    step_of("edit", person, st.integers(0, 3)),
    step_of("mute", st.just(0), person),
    step_of("unmute", st.just(0), person),
    step_of("look", person),
)


@pytest.fixture
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some posts of an author are below the list in memory."""
    monkeypatch.setattr(newest, "MOST_LISTED", 3)


@contextmanager
def no_memory() -> Iterator[None]:
    """Pages inside find no post, account or counts in process memory. After it all is as before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_process_posts, "_posts", PostsByAuthor(MOST_POSTS))
        patch.setattr(kept_pages, "_pages", ShortLived(100, 60_000))
        # Lists of authors are read from the shards.
        patch.setattr(author_batches, "peek_newest_posts", lambda _: None)
        patch.setattr(kept_author_pages, "_kept", ShortLived(100, 60_000))
        patch.setattr(author_batches, "_load_newest", lambda _: None)
        for tier in (in_process._accounts, counts._counts_in_memory):
            patch.setattr(tier, "_cache", type(tier._cache)(100, 60.0))
        yield


class FinishedHistory(History):
    """Reads after each step, so that memory has something to be wrong about."""

    def __init__(self) -> None:
        super().__init__()
        self.finished = 0

    def rename(self, account: int, number: int) -> None:
        update_profile(account, ProfileEdit(display_name=f"Name {number}"))

    def edit(self, account: int, number: int) -> None:
        """The account's newest post, if it has one."""
        ids = [i for i in self.ever if i.author_id == account]
        rows = [one for one in read_posts(shard_of(account), ids) if one.kind != Kind.REPOST]
        for row in sorted(rows)[-1:]:
            edit_post(row, Draft(f"text {number}"))

    def mute(self, account: int, other: int) -> None:
        if account != self.people[other] and self.people[other] not in self.suspended:
            mute(account, self.people[other])

    def unmute(self, account: int, other: int) -> None:
        unmute(account, self.people[other])

    def look(self, account: int, _: Any) -> None:
        """The same pages twice: the first read finishes what the second one uses."""
        rest()
        for _ in range(2):
            self._read(account)

    def compare(self) -> None:
        rest()
        for account in self.people:
            fast = self._read(account)
            with no_memory():
                assert self._read(account) == fast
            assert self._read(account) == fast, "what the read before finished"
        guest = list(self._read_authors(None))
        with no_memory():
            assert list(self._read_authors(None)) == guest

    def _read(self, viewer: int) -> list[object]:
        """All that this viewer can read of these people's posts, in the read window if it is open.

        A write closes it. So the first read after a write asks Redis, and the others do not.
        """
        before = enter_read()
        try:
            singles = load_status_json(self.ever[-5:], viewer)
            return [singles, list(self._read_authors(viewer)), home_page(viewer, Window(20))]
        finally:
            leave_read(before)

    def _read_authors(self, viewer: int | None) -> Iterator[Page[bytes]]:
        for author_id in self.people[:2]:
            if author_id in self.suspended:
                with pytest.raises(AccountNotFound):
                    author_page(AuthorTimelineQuery(author_id, viewer), Window(20))
                continue
            middle = self.ever[len(self.ever) // 2].public
            for kinds, cursors in AUTHOR_PAGES:
                window = Window(2, **dict.fromkeys(cursors, middle))
                yield author_page(AuthorTimelineQuery(author_id, viewer, kinds), window)


@examples(20)
@given(steps=st.lists(steps, min_size=8, max_size=25))
def test_finished_entities_are_what_would_be_loaded(
    world: None,
    tiny_timelines: None,
    short_lists: None,
    open_window: None,
    steps: list[tuple[str, int | None, int | None]],
) -> None:
    clean()
    history = FinishedHistory()
    for friend in range(1, len(history.people)):
        history.follow(history.people[0], friend)
        history.publish(history.people[friend], 1)
    for name, who, what in steps:
        history.run(name, who, what)
        history.compare()
