"""Writing opens above the page, Back closes it, and what was pressed can be taken back."""

import pytest

from infra.sharding.buckets import shard_of
from relations.actions.follow import follow
from relations.queries.edges import get_edge
from relations.types import FollowOptions
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.live_site import settle
from tests.browser.neighbours import POLL
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.callers import Caller
from tests.world import drain_all, publish

SHEET, SHOWN = "dialog.sheet", "document.querySelector('dialog.sheet')?.open"
# As long as the way to the server takes.
LATE_S = 1
AT_THE_END = "innerHeight - document.querySelector('dialog.sheet').getBoundingClientRect().bottom"


@pytest.fixture
def tab(ann: int, tab_of, delivery: None) -> Tab:
    tab: Tab = tab_of()
    enter(tab, ann)
    return tab


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_new_post_is_written_above_any_page(ann: int, tab_of, delivery, size: Size) -> None:
    tab: Tab = tab_of(size)
    enter(tab, ann)
    tab.open("/public")
    tab.click(".write")
    tab.wait(SHOWN)
    assert faults_of(tab) == []
    if size.is_phone:
        tab.wait(f"{AT_THE_END} === 0")
    tab.type_text("Written above the page")
    tab.press("Post")
    tab.see("Posted.")
    tab.wait(f"!{SHOWN}")
    tab.at("/public")
    tab.open("/@ann")
    tab.see("Written above the page")


def test_back_closes_it_and_keeps_what_was_typed(tab: Tab) -> None:
    tab.open("/people")
    tab.click(".write")
    tab.wait(SHOWN)
    tab.type_text("Half a thought")
    tab.wait("localStorage.length > 0")
    tab.back()
    tab.wait(f"!{SHOWN}")
    tab.at("/people")
    tab.click(".write")
    tab.wait(
        f"{SHOWN} && document.querySelector('dialog.sheet textarea').value === 'Half a thought'"
    )


def test_a_reply_and_an_edit_change_the_page_below(ann: int, tab: Tab) -> None:
    publish(ann, "The first words")
    drain_all()
    tab.open("/@ann")
    tab.click(".entry .act[href$='#reply-text']")
    tab.wait(SHOWN)
    tab.expect(tab.find(f"{SHEET} .post")).to_contain_text("The first words")
    tab.type_text("An answer")
    tab.click(f"{SHEET} .send")
    tab.see("Reply posted.")
    tab.expect(tab.find(".entry .act[href$='#reply-text'] span").first).to_have_text("1")
    tab.click(".entry .menu > summary")
    tab.click(".entry .menu a[href$='/edit']")
    tab.wait(SHOWN)
    tab.type_text(" and more")
    tab.click(f"{SHEET} .send")
    tab.expect(tab.find(".entry .content").first).to_have_text("The first words and more")


def test_an_unfollow_is_taken_back_with_its_flags(ann: int, tab: Tab) -> None:
    ben = make_named("ben")
    follow(ann, ben, FollowOptions(special=True, notify=True))
    settle()
    before = get_edge(shard_of(ann), ann, ben)
    tab.open("/@ben")
    tab.press("Following: unfollow @ben")
    tab.see("You no longer follow @ben.")
    assert not get_edge(shard_of(ann), ann, ben).is_follow
    tab.press("Undo")
    tab.expect(tab.find(".account-acts > form [data-then]")).to_have_text("Following")
    after = get_edge(shard_of(ann), ann, ben)
    assert (after.flags, after.since_ms) == (before.flags, before.since_ms)


def test_a_mute_is_there_at_once_and_taken_back(ann: int, tab: Tab) -> None:
    ben = make_named("ben")
    follow(ann, ben, FollowOptions(notify=True))
    settle()
    tab.open("/@ben")
    tab.click(".profile .menu summary")
    tab.press("Mute")
    tab.see("You muted @ben.", "You muted this account.")
    tab.press("Undo")
    tab.see_no("You muted this account.")
    assert get_edge(shard_of(ann), ann, ben).flags


@pytest.mark.parametrize(
    ("button", "place", "then", "before"),
    [
        ("Follow @ben", ".account-acts > form [data-then]", "Following", "Follow"),
        ("Vote", ".poll [data-then]", "Voted", "Vote"),
    ],
)
def test_a_press_shows_before_the_server_knows_and_is_put_back_if_it_fails(
    tab: Tab, button: str, place: str, then: str, before: str
) -> None:
    Caller(make_named("ben")).post("/api/v1/statuses", {"status": "which?", "poll": POLL})
    settle()
    tab.open("/@ben")
    tab.click(".poll li:first-child .check")
    tab.refuse("**/follow")
    tab.refuse("**/vote")
    with tab.answers_after_s("**/*", LATE_S):
        tab.press(button)
        tab.wait(f"document.querySelector('{place}').textContent === '{then}'")
        tab.see("The server does not answer.")
    tab.expect(tab.find(place)).to_have_text(before)
    tab.faults.clear()


def test_a_button_keeps_its_icon_when_it_is_pressed_and_refused(ann: int, tab: Tab) -> None:
    make_named("ben")
    tab.open("/@ben")
    tab.refuse("**/mute")
    with tab.answers_after_s("**/*", LATE_S):
        tab.click(".profile .menu summary")
        tab.press("Mute")
        tab.wait(
            "document.querySelector('.menu [data-then]:has(svg)').textContent.trim() === 'Muted'"
        )
        tab.see("The server does not answer.")
    tab.expect(tab.find(".menu [data-then] svg")).to_have_count(1)
    tab.faults.clear()
