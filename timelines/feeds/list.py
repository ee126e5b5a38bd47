"""A page of an account list's timeline: the posts of its members, by the rules of home.

Nothing is stored: every page is pulled.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from infra.api.pages import Page, Window
from infra.caching.questions import answer, ask_both
from infra.clock import now_ms
from posts.cache.viewer_state import ask_viewer_state
from posts.ids import LAST, PostId
from posts.queries.responses import read_reposts
from relations.lists.queries.lists import get_list_members
from relations.lists.types import ListMembers, RepliesPolicy
from relations.visibility import Surface
from timelines.addressed import ReplyScope
from timelines.feeds.page import feed_page
from timelines.feeds.ruled import RuledFeed
from timelines.polling.begin import begin_poll
from timelines.polling.late_posts import load_late_posts
from timelines.polling.ordinary import ask_has_polled, enter_by_page
from timelines.polling.records import Poller
from timelines.queries.pull import iter_pulled
from timelines.recent.factory import recent_index
from timelines.recent.queries.late_rows import PolledAuthors
from timelines.types import Entry, TimelineAuthors, TimeRange


def account_list_page(
    reader_id: int,
    list_id: int,
    window: Window,
    clock_ms: Callable[[], int] = now_ms,
    client: str | None = None,
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    Raises: ListNotFound, InvalidCursor. Cost when warm: two round trips, two queries on the
    reader's shard, one query for reposts per shard of the authors. Below the recent-posts index one
    more query per shard. Entries that the rules remove cost as at home, and so does a poll by a
    `client`.
    """
    at_ms, poller = clock_ms(), Poller(reader_id, f"list-{list_id}", client)
    entered = poller if window.is_newest else None
    timeline = ListFeed(reader_id, list_id, at_ms, entered)
    load_late = partial(load_late_posts, PolledAuthors(reader_id, timeline.member_ids))
    poll = begin_poll(poller, window, at_ms, load_late)
    page = feed_page(timeline, window, poll)
    if timeline.has_polled:
        enter_by_page(poller, page, at_ms)
    return page


class ListRules(NamedTuple):
    """The members of a list, and which of their replies it shows."""

    member_ids: Sequence[int]
    replies: ReplyScope


def load_list_rules(reader_id: int, list_id: int) -> ListRules:
    """Raises: ListNotFound. One query by keys."""
    members = get_list_members(reader_id, list_id)
    return ListRules(members.account_ids, _scope_of(members))


class ListFeed(RuledFeed):
    """The entries of one account list during one request."""

    is_stored = False
    surface = Surface.LIST

    def __init__(
        self, reader_id: int, list_id: int, now_ms: int, poller: Poller | None = None
    ) -> None:
        rules = load_list_rules(reader_id, list_id)
        self.reader_id, self.now_ms = reader_id, now_ms
        asked = ask_both(ask_viewer_state(reader_id), ask_has_polled(poller))
        self.viewer_state, self.has_polled = answer(asked)
        self.replies, self.member_ids = rules.replies, rules.member_ids
        self._read, self._read_range = set[PostId](), TimeRange(LAST, LAST)
        self._authors = TimelineAuthors(reader_id, rules.member_ids, has_own=False)

    def iter_older(self, time_range: TimeRange) -> Iterator[Entry]:
        """Entries inside the range, newest first."""
        for entry in iter_pulled(self._authors, time_range, newest_first=True):
            self._note_read(TimeRange(entry.event, time_range.below), entry.event)
            yield entry

    def iter_newer(self, time_range: TimeRange) -> Iterator[Entry]:
        """Entries inside the range, oldest first."""
        for entry in iter_pulled(self._authors, time_range, newest_first=False):
            self._note_read(TimeRange(time_range.above, entry.event), entry.event)
            yield entry

    def list_sources(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """These entries and all others of members that show the same posts, without repeats,
        visible or not."""
        originals = {original for _, original in entries}
        members = set(self._authors.followee_ids)
        posted = [Entry.of_post(i) for i in originals if i.author_id in members]
        reposts = [Entry(*pair) for pair in read_reposts(originals, self._authors.followee_ids)]
        return list(dict.fromkeys([*entries, *posted, *self._list_reposts(entries, reposts)]))

    def _list_reposts(self, entries: Sequence[Entry], reposts: Sequence[Entry]) -> list[Entry]:
        """Those of the reposts that have arrived. The shard of a post knows of its reposts first.

        A post whose newest repost has not arrived is shown at an older place. Otherwise the page
        would lack it, and have later posts of the same author.
        """
        places = {original: event for event, original in sorted(entries, reverse=True)}
        known = [e for e in reposts if e.event in self._read or e.event < places[e.original]]
        above, below = self._read_range
        new = [e for e in reposts if e not in known and not above < e.event < below]
        return [*known, *recent_index().list_arrived(self.reader_id, new)]

    def _note_read(self, time_range: TimeRange, event: PostId) -> None:
        """This request has read all events of the range; the last one is `event`."""
        self._read_range = time_range
        self._read.add(event)


def _scope_of(members: ListMembers) -> ReplyScope:
    if members.replies_policy is RepliesPolicy.LIST:
        return ReplyScope(to_accounts=frozenset(members.account_ids))
    return ReplyScope(to_followees=members.replies_policy is RepliesPolicy.FOLLOWED)
