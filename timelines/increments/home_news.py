"""What is new at a reader's home since an entry: whether, from whom, and about how many."""

from collections.abc import Callable
from typing import NamedTuple

import orjson
from prometheus_client import Counter

from infra.api.pages import Window
from infra.clock import now_ms
from posts.ids import EPOCH, FIRST, PostId
from timelines.increments.apply import LAG_S
from timelines.increments.followees import find_followees
from timelines.increments.last_post_index import HeaderWord
from timelines.increments.queries import IndexSnapshot, find_authors, increments
from timelines.queries.home import home_page

MOST_NAMED = 40
ANSWERS = Counter("tideline_home_news_total", "Answers on what is new at home", ["source"])
FROM_BOARD, FROM_TIMELINE = ANSWERS.labels("index"), ANSWERS.labels("timeline")


class HomeNews(NamedTuple):
    """`account_ids`: who has something new, newest first, at most MOST_NAMED. `account_count`: of
    them all. `as_of`: to ask from next; older than what this answer includes by LAG_S."""

    account_ids: list[int]
    account_count: int
    as_of: PostId


def find_home_news(reader_id: int, since: PostId, clock_ms: Callable[[], int] = now_ms) -> HomeNews:
    """Who published something for this home, newer than `since`.

    From the index of this machine; where that does not know, from the home timeline itself, and
    then of at most MOST_NAMED entries. The index also counts what was deleted since, and reposts of
    somebody the reader does not want to see. Cost: 15 µs and no store when warm; from the timeline
    as a home page.
    """
    at_ms, snapshot = clock_ms(), increments().snapshot()
    account_ids = None if snapshot is None else _ask_board(reader_id, since, snapshot, at_ms)
    (FROM_TIMELINE if account_ids is None else FROM_BOARD).inc()
    if account_ids is None:
        account_ids = _ask_timeline(reader_id, since, clock_ms)
    as_of = snapshot.as_of if snapshot else at_ms // 1000 - EPOCH - LAG_S
    return HomeNews(account_ids[:MOST_NAMED], len(account_ids), PostId(max(as_of, 0), 0, 0))


def _ask_board(
    reader_id: int, since: PostId, snapshot: IndexSnapshot, at_ms: int
) -> list[int] | None:
    """None: unknown. Whose reposts are hidden may have made one: that alone says nothing."""
    if since.second < snapshot.index.header[HeaderWord.COMPLETE_FROM]:
        return None
    followees = find_followees(reader_id, snapshot, at_ms)
    found = find_authors(snapshot.index, followees.sure, since)
    if found == [] and find_authors(snapshot.index, followees.unsure, since) != []:
        return None
    return found


def _ask_timeline(reader_id: int, since: PostId, clock_ms: Callable[[], int]) -> list[int]:
    since_id = None if since == FIRST else since.public
    page = home_page(reader_id, Window(MOST_NAMED, since_id=since_id), clock_ms)
    authors = [int(orjson.loads(body)["account"]["id"]) for body in page.items]
    return list(dict.fromkeys(authors))
