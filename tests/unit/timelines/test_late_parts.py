"""Which late posts a poll returns: those that are fresh, and those that may come once more."""

import pytest

from posts.ids import PostId
from timelines.polling.poll import UNSURE_MS, LateParts, Poll, list_due, sort_late
from timelines.polling.records import PAGE_MS, Poller
from timelines.polling.types import LatePost, LatePosts, PollRecord, Returned
from timelines.types import Entry

CURSOR = PostId(9, 1, 0)
LATE = PostId(5, 1, 0)
SEEN_MS = 1_000
NEW = SEEN_MS + 1


def poll(visible_ms, record, returned):
    late = LatePosts([LatePost(Entry.of_post(LATE), visible_ms)], 0, visible_ms)
    return Poll(Poller(7, "home", "token", b"m20"), CURSOR, record, returned, late)


def of_all(**fields):
    return PollRecord(2, 0, SEEN_MS, known=SEEN_MS, **fields)


def of_one(**fields):
    return Returned(known=SEEN_MS, **fields)


HAVE_ALL = of_all()
CUT = (PostId(4, 1, 0), PostId(6, 1, 0))
# When it became visible, what all clients have and what one of them was returned; and the part.
CASES = {
    "all have what was visible then": (SEEN_MS, HAVE_ALL, of_one(), None),
    "also if it is not known that one of them was returned it": (
        SEEN_MS, HAVE_ALL, Returned(), None,
    ),
    "all were served it": (NEW, of_all(served=(LATE,)), of_one(), None),
    "it came later": (NEW, HAVE_ALL, of_one(), "fresh"),
    "one of them has it": (NEW, HAVE_ALL, of_one(served=(LATE,)), "again"),
    "one of them has what was visible then": (
        SEEN_MS, HAVE_ALL._replace(known=0), of_one(), "again",
    ),
    "a full page owes it": (
        SEEN_MS, of_all(owed=(LATE,)), of_one(owed=(LATE,), pending=(LATE,)), "fresh",
    ),
    "a full page owes it once more": (
        SEEN_MS, of_all(owed=(LATE,)), of_one(pending=(LATE,)), "again",
    ),
    "a full page owes it to clients of another way": (
        SEEN_MS, of_all(owed=(LATE,)), of_one(), None,
    ),
    "one of them went down to it": (NEW, HAVE_ALL, of_one(cut=CUT), "again"),
    "it came after that": (SEEN_MS + PAGE_MS + 1, HAVE_ALL, of_one(cut=CUT), "fresh"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_a_poll_should_return(name):
    visible_ms, record, returned, part = CASES[name]
    one = poll(visible_ms, record, returned)
    posts = {"fresh": [], "again": []}
    if part is not None:
        posts[part] = list(one.late.posts)
    assert sort_late(one) == LateParts(**posts)


@pytest.mark.parametrize(("early_ms", "is_due"), [(0, True), (1, False)])
def test_it_comes_again_with_a_cursor_with_which_each_page_has_it(early_ms, is_due):
    again = [LatePost(Entry.of_post(LATE), CURSOR.posted_at_s * 1000 - UNSURE_MS + early_ms)]
    assert list_due(again, CURSOR) == (again if is_due else [])
