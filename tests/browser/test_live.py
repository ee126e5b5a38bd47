"""A page that is open shows at once what happens: the streaming process says so."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from infra.processes.free_ports import free_ports
from lab.runner.port import HOST
from posts.actions.mark_post import mark_post
from posts.types import Kind
from relations.actions.follow import follow
from tests.browser.artifacts import ARTIFACTS
from tests.browser.driving import Driven
from tests.browser.feeds import enter, send
from tests.browser.live_site import settle
from tests.browser.serving import running_site
from tests.browser.tab import DESKTOP, Look, Tab
from tests.integration.streaming.serving import running_streams
from tests.waiting import until
from tests.world import make_accounts, publish

pytestmark = pytest.mark.core

# Without the stream a page asks for notifications every 60 s.
SOON_S = 30
# Without the stream telling of it, a page asks for posts every 20 s.
BEFORE_IT_ASKS_S = 8
TOLD = "performance.getEntriesByType('resource').some((one) => /home.new.*told=1/.test(one.name))"
TEXT = "document.querySelector('#timeline').textContent"
LIVE = "'live' in document.documentElement.dataset"
BADGE = "document.querySelector('#unread').textContent"
HIDE = """(() => {
  Object.defineProperty(document, 'hidden', {value: true, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
})()"""


class Home(NamedTuple):
    """My open home page, and an author that I follow."""

    tab: Tab
    me: int
    author: int


@pytest.fixture(scope="module")
def live_site(databases: None, delivery: None, worker_id: str) -> Iterator[str]:
    """A web server whose pages know the streaming process."""
    port, streams = free_ports(2)
    address = f"http://{HOST}:{port}"
    known = {"PUBLIC_URL": address, "STREAMING_URL": f"ws://{HOST}:{streams}"}
    with (
        running_site(ARTIFACTS / f"live-{worker_id}.log", port=port, environment=known) as site,
        running_streams(ARTIFACTS / f"streams-{worker_id}.log", port=streams, PUBLIC_URL=address),
    ):
        yield site


@pytest.fixture
def home(world: None, browser: Driven, live_site: str) -> Iterator[Home]:
    me, author = make_accounts(2)
    follow(me, author)
    settle()
    tab = Tab(browser, live_site, Look(DESKTOP))
    enter(tab, me)
    tab.open("/")
    tab.wait(LIVE)
    yield Home(tab, me, author)
    tab.close()
    assert not tab.faults


def test_a_post_and_a_notification_are_there_soon(home: Home) -> None:
    own = publish(home.me, "my post")
    publish(home.author, "what is new")
    home.tab.see("what is new")
    mark_post(home.author, own, Kind.FAVOURITE, True)
    until(lambda: home.tab.run(BADGE).startswith("1"), SOON_S)


def test_each_post_is_there_before_the_page_would_ask_by_itself(home: Home) -> None:
    """The stream tells of a post before the machine's index of last posts has it, so the page
    asks for more than a word from that index."""
    for number in range(6):
        send(home.tab.address, home.author, "statuses", {"status": f"news {number}."})
        until(lambda n=number: home.tab.run(f"{TEXT}.includes('news {n}.')"), BEFORE_IT_ASKS_S)
    assert home.tab.run(TOLD)


def test_a_page_that_is_not_seen_gives_its_stream_back(home: Home) -> None:
    home.tab.run(HIDE)
    home.tab.wait(f"!({LIVE})")
