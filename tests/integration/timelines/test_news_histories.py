"""Random histories: news are what the page shows, and the index misses nothing of it."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.pages import Window
from posts.ids import LAST, PostId
from relations.actions.follow import follow
from relations.types import FollowOptions
from tests.integration.timelines.drawn import examples
from tests.integration.timelines.last_post_indexes import begin_long_ago, catch_up, no_thread
from tests.integration.timelines.test_remembered_histories import RememberedHistory, steps
from tests.world import clean, drain_all
from timelines.home.page import home_page, list_shown_events
from timelines.increments.home_news import MOST_NAMED, find_home_news
from timelines.increments.queries import Increments
from timelines.types import TimeRange

pytestmark = pytest.mark.slow

Steps = list[tuple[str, int | None, int | None]]
some_steps = st.lists(steps, min_size=6, max_size=14)
# The index is complete from this second on.
BEFORE_ALL = PostId(1, 0, 0)


class NewsHistory(RememberedHistory):
    """Compares news with pages after each step, of all time and of ranges that end at posts."""

    def compare(self) -> None:
        second, last = sorted(self.ever[-2:])
        ranges = [TimeRange(BEFORE_ALL), TimeRange(second), TimeRange(second, last)]
        for account in self.people[:2]:
            for time_range in ranges:
                self._compare(account, time_range)

    def _compare(self, reader: int, time_range: TimeRange) -> None:
        shown = read_page(reader, time_range)
        events = list_shown_events(reader, time_range, MOST_NAMED)
        assert [(event.public, event.author_id) for event in events] == shown
        authors = list(dict.fromkeys(author for _, author in shown))
        self.check_news(find_home_news(reader, time_range).account_ids, authors)

    def check_news(self, named: list[int], shown: list[int]) -> None:
        assert named == shown


class IndexedHistory(NewsHistory):
    """The index follows all posts."""

    def compare(self) -> None:
        drain_all()
        catch_up()
        super().compare()

    def check_news(self, named: list[int], shown: list[int]) -> None:
        """The index cannot tell that a post is deleted."""
        assert set(shown) <= set(named)


def read_page(reader: int, time_range: TimeRange) -> list[tuple[str, int]]:
    """The ids on the page, and their accounts."""
    above, below = time_range
    window = Window(
        MOST_NAMED,
        since_id=above.public,
        max_id=None if below is LAST else below.public,
    )
    entities = map(orjson.loads, home_page(reader, window).items)
    return [(one["id"], int(one["account"]["id"])) for one in entities]


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Increments, "snapshot", lambda _: None)


histories = examples(15)


def run(history: NewsHistory, all_steps: Steps, hides_reposts: bool) -> None:
    """`hides_reposts`: the first person hides those of the second."""
    for friend in range(1, len(history.people)):
        history.follow(history.people[0], friend)
        if hides_reposts and friend == 1:
            follow(history.people[0], history.people[1], FollowOptions(reposts=False))
        history.publish(history.people[friend], 1)
    for name, who, what in all_steps:
        history.run(name, who, what)
        history.compare()


@histories
@given(some=some_steps, hides=st.booleans())
def test_without_an_index_news_are_what_the_page_shows(
    world: None, tiny_timelines: None, no_index: None, some: Steps, hides: bool
) -> None:
    clean()
    run(NewsHistory(), some, hides)


@histories
@given(some=some_steps, hides=st.booleans())
def test_the_index_misses_nothing_that_the_page_shows(
    world: None, tiny_timelines: None, some: Steps, hides: bool
) -> None:
    clean()
    with no_thread():
        begin_long_ago()
        run(IndexedHistory(), some, hides)
