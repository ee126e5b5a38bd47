"""What is new in a reader's home timeline since an entry, or between two: from which accounts."""

from collections.abc import Callable
from typing import NamedTuple

from prometheus_client import Counter

from infra.clock import now_ms
from infra.shared_thread import need_own_thread
from posts.ids import EPOCH, LAST, PostId
from timelines.home.page import list_shown_events
from timelines.increments.followees import find_followees
from timelines.increments.last_post_index import LastPostIndex
from timelines.increments.post_stream import LAG_S
from timelines.increments.posts_between import find_authors_between
from timelines.increments.queries import AccountIds, IndexSnapshot, find_authors, increments
from timelines.tags.cache import ask_home_tags
from timelines.tags.home import has_tagged_between
from timelines.types import TimeRange

MOST_NAMED = 40
ANSWERS = Counter(
    "tideline_home_news_total",
    'Answers to "anything new?": from the last-post index or a timeline',
    ["source"],
)
FROM_INDEX, FROM_TIMELINE = ANSWERS.labels("index"), ANSWERS.labels("timeline")


class HomeNews(NamedTuple):
    """Which accounts published something new.

    `account_ids`: newest first, at most MOST_NAMED. `account_count`: of all of them. `as_of`: the
    `since` of the next question; LAG_S before the moment that this answer includes, or its end.
    """

    account_ids: list[int]
    account_count: int
    as_of: PostId


def find_home_news(
    reader_id: int, time_range: TimeRange, clock_ms: Callable[[], int] = now_ms
) -> HomeNews:
    """The accounts that published something for this home timeline inside the range.

    Source: this machine's last-post index. It also counts deleted posts. If the index cannot
    answer, the home timeline does, from at most MOST_NAMED entries of a page. Cost: no store while
    no account at all has published anything newer; one round trip when the index answers and the
    followees are in process memory, two for a reader with home tags; else as `list_shown_events`.
    """
    at_ms, snapshot = clock_ms(), increments().snapshot()
    account_ids = None if snapshot is None else _ask_index(reader_id, time_range, snapshot, at_ms)
    (FROM_TIMELINE if account_ids is None else FROM_INDEX).inc()
    if account_ids is None:
        account_ids = _ask_timeline(reader_id, time_range, clock_ms)
    as_of = snapshot.as_of if snapshot else at_ms // 1000 - EPOCH - LAG_S
    as_of_id = min(PostId(max(as_of, 0), 0, 0), time_range.below)
    return HomeNews(account_ids[:MOST_NAMED], len(account_ids), as_of_id)


def _ask_index(
    reader_id: int, time_range: TimeRange, snapshot: IndexSnapshot, at_ms: int
) -> list[int] | None:
    """None if the index cannot tell.

    One such case: an account that published has reposts, or posts that address accounts. The rules
    may hide these. Another one: there is a post with a home tag, which the rules may hide.
    """
    if not snapshot.is_complete_since(time_range.above):
        return None
    if not snapshot.may_have_newer(time_range.above):
        return []
    home_tags = ask_home_tags(reader_id)
    followees = find_followees(reader_id, at_ms, home_tags)
    if has_tagged_between(home_tags.value, time_range):
        return None
    authors = _find_authors(snapshot.last_posts, followees.account_ids, time_range)
    return None if authors and snapshot.last_posts.has_unsure(authors) else authors


def _find_authors(
    index: LastPostIndex, account_ids: AccountIds, time_range: TimeRange
) -> list[int] | None:
    since, until = time_range
    if until is LAST:
        return find_authors(index, account_ids, since)
    authors = find_authors_between(index, account_ids, since, until)
    return None if authors is None or authors.perhaps else authors.certain


def _ask_timeline(reader_id: int, time_range: TimeRange, clock_ms: Callable[[], int]) -> list[int]:
    """The accounts of the newest MOST_NAMED entries that a page of the range shows."""
    need_own_thread()  # a page of the timeline may read a shard
    events = list_shown_events(reader_id, time_range, MOST_NAMED, clock_ms)
    return list(dict.fromkeys(event.author_id for event in events))
