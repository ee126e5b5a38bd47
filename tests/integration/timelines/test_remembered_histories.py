"""Random histories: remembered pages are, byte for byte, those of a process without memory."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.actions.update_profile import update_profile
from accounts.errors import AccountNotFound
from accounts.types import ProfileEdit
from infra.api.errors import NotAllowed, NotFound
from infra.api.pages import Page, Window
from infra.caching.remembered import forget_answers
from infra.sharding.buckets import shard_of
from posts.actions.edit_post import edit_post
from posts.cache import newest
from posts.filters.actions.edit_filters import edit_filters
from posts.filters.types import FilterEdit, KeywordEdit
from posts.queries.rows import ALL_KINDS, read_posts
from posts.reading.statuses import load_status_json
from posts.types import Draft, Kind
from relations.actions.block import block, unblock
from relations.actions.mute import mute, unmute
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.test_histories import History, person, step
from tests.world import clean, drain_all
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery
from timelines.home.page import home_page

pytestmark = pytest.mark.slow

# The kinds of posts, and the cursors that are at a post in the middle.
AUTHOR_PAGES = (
    (ALL_KINDS, ()),
    ((Kind.POST,), ()),
    ((Kind.POST, Kind.REPLY), ("max_id",)),
    (ALL_KINDS, ("min_id",)),
    (ALL_KINDS, ("since_id",)),
)
# Entries of a home page: so few that each post makes a page, or all.
LIMITS = (1, 2, 20)
# Words of the posts: of new ones, of edited ones, and of replies.
WORDS = ("hello", "text", "so")
wishes = st.one_of(
    step_of("mute", st.just(0), person),
    step_of("block", person, person),
    step_of("filter", person, st.integers(0, len(WORDS) - 1)),
)
steps = st.one_of(
    step,
    wishes,
    step_of("unmute", st.just(0), person),
    step_of("unblock", person, person),
    step_of("end_filters", person),
    step_of("rename", person, st.integers(0, 3)),
    step_of("edit", person, st.integers(0, 3)),
    step_of("look", person),
    # A third of all steps, because pages are made again when posts arrive.
    *(step_of("arrive", person, st.integers(0, 2)) for _ in range(16)),
)


@pytest.fixture
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some posts of an author are below the list in memory."""
    monkeypatch.setattr(newest, "MOST_LISTED", 3)


class RememberedHistory(History):
    """Reads after each step, so that memory has something to be wrong about.

    All home pages have one window: a page of another window would take the place of the kept page.
    """

    def __init__(self, limit: int = 20) -> None:
        super().__init__()
        self.window = Window(limit)

    def run(self, name: str, who: int | None, what: int | None) -> None:
        """A step that a block forbids changes nothing."""
        with suppress(NotAllowed, NotFound):
            super().run(name, who, what)

    def arrive(self, author: int, pause: int) -> None:
        """A post that is in all home timelines before the next read."""
        self.publish(author, pause)
        drain_all()

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

    def block(self, account: int, other: int) -> None:
        target = self.people[other]
        if account != target and target not in self.suspended:
            block(account, target)
            self.oracle.unfollow(account, target)
            self.oracle.unfollow(target, account)

    def unblock(self, account: int, other: int) -> None:
        unblock(account, self.people[other])

    def filter(self, account: int, word: int) -> None:
        """One more filter of the account, with a keyword that some posts have."""
        added = FilterEdit(title=WORDS[word], keywords=[KeywordEdit(keyword=WORDS[word])])
        edit_filters(account, lambda book: book.create(added))

    def end_filters(self, account: int, _: None) -> None:
        edit_filters(account, lambda book: book.filters.clear())

    def look(self, account: int, _: Any) -> None:
        """The same pages twice: the second read may use what the first one remembered."""
        for _ in range(2):
            self._read(account)

    def compare(self) -> None:
        for account in self.people:
            remembered = self._read(account)
            assert self._read(account) == remembered, "what the read before remembered"
            forget_answers()
            assert self._read(account) == remembered
        guest = list(self._read_authors(None))
        forget_answers()
        assert list(self._read_authors(None)) == guest

    def _read(self, viewer: int) -> list[object]:
        """All that this viewer can read of these people's posts."""
        singles = load_status_json(self.ever[-5:], viewer)
        return [singles, list(self._read_authors(viewer)), home_page(viewer, self.window)]

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
@given(
    # From the beginning, so that the pages of later steps are made with them. 0: no mute.
    muted=person,
    first=st.lists(wishes, max_size=2),
    limit=st.sampled_from(LIMITS),
    steps=st.lists(steps, min_size=8, max_size=25),
)
def test_remembered_pages_are_what_would_be_made(
    world: None,
    tiny_timelines: None,
    short_lists: None,
    muted: int,
    first: list[tuple[str, int | None, int | None]],
    limit: int,
    steps: list[tuple[str, int | None, int | None]],
) -> None:
    clean()
    history = RememberedHistory(limit)
    for friend in range(1, len(history.people)):
        history.follow(history.people[0], friend)
        history.publish(history.people[friend], 1)
    history.mute(history.people[0], muted)
    for name, who, what in first:
        history.run(name, who, what)
    for name, who, what in steps:
        history.run(name, who, what)
        history.compare()
