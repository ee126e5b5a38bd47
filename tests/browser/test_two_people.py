"""Two people in two browsers: what one does is soon seen by the other."""

import statistics
import time
from collections.abc import Iterator

import pytest

from posts.actions.repost import repost
from relations.actions.block import block
from relations.actions.follow import follow
from tests.browser.feeds import enter, make_named, write_post
from tests.browser.live_site import delivering, settle
from tests.browser.tab import Tab
from tests.world import publish

SOON_S = 2
# A double click of a person: both are there before the first answer.
TWICE = """(() => {
  const button = document.querySelector("#compose .row button:last-of-type");
  button.click(); button.click();
})()"""


@pytest.fixture(scope="module")
def delivery(databases: None, worker_id: str) -> Iterator[None]:
    """Changes are delivered all the time, as in production."""
    with delivering(worker_id):
        yield


@pytest.fixture
def ann(world: None) -> int:
    return make_named("ann")


@pytest.fixture
def ben(world: None) -> int:
    return make_named("ben")


@pytest.fixture
def anns(ann: int, tab_of, delivery: None) -> Tab:
    """The tab of ann."""
    tab: Tab = tab_of()
    enter(tab, ann)
    return tab


@pytest.fixture
def bens(ben: int, tab_of, delivery: None) -> Tab:
    tab: Tab = tab_of()
    enter(tab, ben)
    return tab


def test_a_post_is_on_the_open_page_of_a_follower_within_two_seconds(
    ann: int, ben: int, anns: Tab, bens: Tab
) -> None:
    follow(ann, ben)
    anns.open("/")
    bens.open("/")
    took_s = []
    for text in ("The tide is low", "The boats are out", "The nets are full"):
        bens.fill("Your post", text)
        started = time.monotonic()
        bens.press("Post")
        anns.see(text)
        took_s.append(time.monotonic() - started)
    assert statistics.median(took_s) < SOON_S, took_s


def test_a_double_click_and_the_back_button_publish_once(ann: int, anns: Tab) -> None:
    anns.open("/")
    anns.fill("Your post", "only once")
    anns.run(TWICE)
    anns.see("only once")
    anns.open("/public")
    anns.back()
    anns.see("only once")
    anns.open("/@ann")
    anns.expect(anns.find(".post")).to_have_count(1)


def test_reposts_of_several_people_are_one_entry(ann: int, ben: int, anns: Tab) -> None:
    post = publish(make_named("writer"), "worth a repost")
    anns.open("/")
    for name in ("cora", "dan", "eve", "finn"):
        follow(ann, who := make_named(name))
        repost(who, post)
    anns.see("worth a repost")
    anns.expect(anns.find(".entry .why")).to_contain_text("and 2 others reposted")
    anns.expect(anns.find(".entry")).to_have_count(1)


def test_a_reply_is_seen_and_a_deleted_post_is_gone(
    ann: int, ben: int, anns: Tab, bens: Tab
) -> None:
    follow(ann, ben)
    bens.open("/")
    write_post(bens, "Who is on the quay?")
    bens.see("Who is on the quay?")
    settle()
    anns.open("/")
    anns.click(".act[aria-label^=Reply]")
    anns.fill("Your reply", "I am")
    anns.press("Reply")
    bens.click("article .when")
    bens.see("I am")
    bens.click(".chosen .menu summary")
    bens.follow("Delete…")
    bens.press("Delete")
    bens.see_no("Who is on the quay?")
    anns.open("/")
    anns.see_no("Who is on the quay?")


def test_who_is_blocked_sees_nothing_more(ann: int, ben: int, anns: Tab) -> None:
    follow(ann, ben)
    publish(ben, "Good morning")
    settle()
    anns.open("/")
    anns.see("Good morning")
    block(ben, ann)
    anns.open("/")
    anns.see_no("Good morning")


def test_signing_out_ends_the_session(anns: Tab) -> None:
    anns.open("/")
    anns.press("Sign out @ann")
    anns.at("/auth/sign_in")
    anns.open("/")
    anns.see("Create an account")
    anns.see_no("Sign out")
