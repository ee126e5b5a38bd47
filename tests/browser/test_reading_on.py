"""Reading a long timeline while others post: no repeat, no gap, and nothing moves."""

import time
from functools import partial
from operator import add

import pytest

from relations.actions.follow import follow
from tests.browser.feeds import (
    DOWN,
    ENTRY,
    enter,
    ids_in,
    read_to_end,
    reading_at,
    send,
)
from tests.browser.live_site import settle
from tests.browser.tab import Tab
from tests.callers import Caller
from tests.integration.timelines.indexed import arrive_on_time
from tests.waiting import until
from tests.world import publish

# The page asks by itself while its tab is visible.
NEWS = "**/home/new?*"
UP = ".newer .button"


@pytest.fixture
def tab(ann: int, ben: int, tab_of, delivery: None) -> Tab:
    """Of ann, who follows ben."""
    follow(ann, ben)
    settle()
    tab: Tab = tab_of()
    enter(tab, ann)
    return tab


def publish_old(author: int, count: int) -> list[str]:
    """The oldest first, each ten seconds after the one before.

    Of posts that arrive together, a poll may repeat those below its cursor.
    """
    begin_s = time.time() - 10 * (count + 1)
    posts = [
        publish(author, f"post number {n}", clock_s=partial(add, begin_s, 10 * n))
        for n in range(count)
    ]
    settle()
    arrive_on_time()
    return [post.public for post in posts]


def publish_new(tab: Tab, author: int, count: int) -> list[str]:
    """As their application does."""
    return [
        send(tab.address, author, "statuses", {"status": f"new post {n}"})["id"]
        for n in range(count)
    ]


def test_300_posts_are_read_without_a_repeat_or_a_gap_while_others_post(ben: int, tab: Tab) -> None:
    old = publish_old(ben, 300)
    tab.open("/")
    tab.run(DOWN)
    tab.wait(f"document.querySelectorAll('{ENTRY}').length > 20")
    tab.run("scrollTo(0, 800)")
    before = reading_at(tab)
    new = publish_new(tab, ben, 3)
    tab.see("3 new posts")
    assert reading_at(tab) == before
    read_to_end(tab, lambda: new.extend(publish_new(tab, ben, 1)))
    assert ids_in(tab) == old[::-1]
    tab.press(f"{len(new)} new posts")
    tab.wait(f"document.querySelectorAll('{ENTRY}').length === 20 && scrollY === 0")
    assert ids_in(tab) == (old + new)[:-21:-1]


def test_many_new_posts_are_read_from_the_beginning(ben: int, tab: Tab) -> None:
    """As for a tab that was hidden for an hour: what does not fit is not left out in the middle."""
    old = publish_old(ben, 21)
    tab.open("/")
    tab.refuse(NEWS)
    tab.run(DOWN)
    tab.wait(f"document.querySelectorAll('{ENTRY}').length > 20")
    new = publish_new(tab, ben, 41)
    settle()
    tab.refuse_nothing()
    tab.run("dispatchEvent(new Event('online'))")
    tab.press("Many new posts")
    tab.wait("scrollY === 0")
    read_to_end(tab)
    assert ids_in(tab) == (old + new)[::-1]
    tab.faults.clear()


def test_a_repost_moves_the_post_to_its_new_place(ben: int, tab: Tab) -> None:
    oldest, *_ = publish_old(ben, 3)
    tab.open("/")
    tab.expect(tab.find(ENTRY)).to_have_count(3)
    send(tab.address, ben, f"statuses/{oldest}/reblog")
    tab.see("Ben reposted")
    tab.expect(tab.find(ENTRY)).to_have_count(3)
    tab.expect(tab.find(ENTRY).first).to_contain_text("post number 0")


def test_home_opens_where_the_reader_stopped_and_nothing_moves_on_the_way_up(
    ann: int, ben: int, tab: Tab
) -> None:
    posts = publish_old(ben, 35)
    send(tab.address, ann, "markers", {"home": {"last_read_id": posts[9]}})
    tab.open("/")
    assert ids_in(tab) == posts[9::-1]
    tab.see("25 new posts above")
    while tab.count(tab.find(UP)):
        tab.run(f"document.querySelector('{UP}').scrollIntoView({{block: 'center'}})")
        before = top_of(tab, posts[9])
        tab.run(f"document.querySelector('{UP}').dataset.old = 1")
        tab.run(f"document.querySelector('{UP}').click()")
        tab.wait(f"!document.querySelector('{UP}[data-old]')")
        assert top_of(tab, posts[9]) == before
    assert ids_in(tab) == posts[::-1]
    tab.run("scrollTo(0, 0)")
    tab.run("dispatchEvent(new Event('pagehide'))")
    until(lambda: last_read(ann) == posts[-1])
    tab.open("/")
    assert ids_in(tab)[0] == posts[-1]


def top_of(tab: Tab, entry: str) -> int:
    """Where this entry begins in the window."""
    where = f"document.querySelector('.entry[data-id=\"{entry}\"]').getBoundingClientRect().top"
    return round(tab.run(where))


def last_read(account_id: int) -> str:
    found = Caller(account_id).get("/api/v1/markers?timeline[]=home").json()["home"]
    return str(found["last_read_id"])


def test_a_busy_server_is_asked_when_it_said(ben: int, tab: Tab) -> None:
    tab.answer_busy(NEWS, retry_s=60)
    tab.open("/")
    tab.run("new Promise((done) => setTimeout(done, 3000))")
    assert len([fault for fault in tab.faults if fault.startswith("429")]) == 1
    tab.faults.clear()


def test_a_page_whose_session_has_ended_says_so(tab: Tab) -> None:
    tab.open("/")
    tab.forget()
    tab.see("You are signed out")
