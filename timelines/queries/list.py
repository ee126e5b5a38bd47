"""A page of a roster's timeline: what its members posted, by the rules of home.

Nothing is stored: every page is pulled.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import ClassVar, NamedTuple

from redis.exceptions import RedisError

from infra.api.pages import Page, Window
from infra.caching.client import redis
from infra.clock import now_ms
from posts.cache.in_process import LogOffset, in_process_posts
from posts.cache.viewer_state import complete_viewer_state, viewer_state_command
from posts.queries.responses import read_reposts
from relations.lists.queries.lists import get_list_members
from relations.lists.types import ListMembers, RepliesPolicy
from relations.queries.following import load_following
from relations.queries.in_process_relationships import relationship_validator_command
from timelines.queries.home import page_of
from timelines.queries.pull import iter_pulled
from timelines.types import Entry, TimelineAuthors, TimeRange


def account_list_page(
    reader_id: int, list_id: int, window: Window, clock_ms: Callable[[], int] = now_ms
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    Raises: ListNotFound, InvalidCursor. Cost, warm: two queries on the reader's shard, one per
    shard of the authors for reposts, two round trips; one more where replies to followees are
    shown. Below the recent-posts index one more query per shard; the rules' refills as at home.
    """
    return page_of(AccountListSkeleton(reader_id, list_id, clock_ms()), window)


class AccountListSkeleton:
    """One reader's roster for the length of one request; fields as HomeSkeleton's."""

    is_stored: ClassVar[bool] = False

    def __init__(self, reader_id: int, list_id: int, now_ms: int) -> None:
        members = get_list_members(reader_id, list_id)
        self.reader_id, self.now_ms = reader_id, now_ms
        first = _read_first(reader_id)
        self.position, self.stamp = first.position, first.stamp
        self.own = complete_viewer_state(reader_id, first.own)
        self.replies_to: Collection[int] | None = _find_replies_to(reader_id, members)
        self._circle = TimelineAuthors(reader_id, members.account_ids, has_own=False)

    def iter_older(self, span: TimeRange) -> Iterator[Entry]:
        """Entries inside the span, newest first."""
        return iter_pulled(self._circle, span, newest_first=True)

    def iter_newer(self, span: TimeRange) -> Iterator[Entry]:
        """Entries inside the span, oldest first."""
        return iter_pulled(self._circle, span, newest_first=False)

    def sources_of(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """These and what else of members brought the same posts, each once, visible or not."""
        originals = {original for _, original in entries}
        members = set(self._circle.followee_ids)
        posted = [Entry.of_post(i) for i in originals if i.author_id in members]
        reposts = [Entry(*pair) for pair in read_reposts(originals, self._circle.followee_ids)]
        return list(dict.fromkeys([*entries, *posted, *reposts]))


class ListReplies(NamedTuple):
    """What the first round trip of a page brings, as timelines.queries.skeleton has it."""

    position: LogOffset | None
    stamp: bytes | None
    own: bytes | None


def _read_first(reader_id: int) -> ListReplies:
    look = in_process_posts.plan_log_read()
    commands = [
        look.command(),
        relationship_validator_command(reader_id),
        viewer_state_command(reader_id),
    ]
    try:
        news, stamp, own = redis().run(commands)
    except RedisError:
        return ListReplies(None, None, None)
    return ListReplies(in_process_posts.apply_log(look, news), stamp, own)


def _find_replies_to(reader_id: int, members: ListMembers) -> frozenset[int]:
    shown: Sequence[int] = ()
    if members.replies_policy is RepliesPolicy.LIST:
        shown = members.account_ids
    elif members.replies_policy is RepliesPolicy.FOLLOWED:
        shown = load_following(reader_id).followee_ids
    return frozenset((reader_id, *shown))
