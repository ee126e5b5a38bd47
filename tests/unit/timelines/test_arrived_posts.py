"""What a plain page finds in a timeline that has changed since."""

import pytest

from posts.ids import PostId
from timelines.queries.plain_pages import PlainPage
from timelines.types import Entry, LiveTimeline


def post(second: int) -> PostId:
    return PostId(second, 1, 0)


OLD = [Entry.of_post(post(second)) for second in (10, 20, 30, 40)]
NEW = Entry.of_post(post(50))


def timeline(*entries: Entry, complete_from: int = 5, version: int = 3) -> LiveTimeline:
    return LiveTimeline.of([entry.packed for entry in entries], complete_from, version)


# Of the newest three.
PAGE = PlainPage.of([post(40), post(30), post(20)], timeline(*OLD))


@pytest.mark.parametrize("arrived", [[], [50], [60, 50], [25], [40]])
def test_posts_at_the_end_are_those_that_arrived(arrived: list[int]) -> None:
    entries = [Entry.of_post(post(second)) for second in arrived]
    assert PAGE.find_added(timeline(*OLD, *entries)) == [post(second) for second in arrived]


@pytest.mark.parametrize(
    "changed",
    [
        timeline(*OLD, Entry(post(50), post(15))),
        timeline(*OLD, Entry.of_post(post(19))),
        timeline(*OLD[1:], NEW),
        timeline(OLD[1], OLD[0], *OLD[2:], NEW),
        timeline(*OLD[:3]),
        timeline(*OLD, NEW, complete_from=6),
        timeline(*OLD, NEW, version=4),
    ],
    ids=["repost", "below", "cut", "order", "shorter", "mark", "version"],
)
def test_a_timeline_that_differs_in_another_way_is_not_known(changed: LiveTimeline) -> None:
    assert PAGE.find_added(changed) is None
