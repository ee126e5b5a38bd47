"""Two people and an operator, from the first visit to an appeal: all of it by the pages.

Other modules try each part in all its ways. This one proves that people need no API for any of it;
docs/reference/proofs-of-the-pages.md says which step proves what. Each step goes on where the one
before it ended.
"""

from collections.abc import Callable
from typing import NamedTuple

import django
import pytest

from tests.browser.axe import faults_of
from tests.browser.feeds import write_post
from tests.browser.live_site import settle
from tests.browser.tab import DESKTOP, PHONE, Tab
from tests.browser.test_signing_in import sign_in_by_form
from tests.browser.test_two_people import PASSWORD, entry_of, find_and_follow, sign_up
from tests.people import make_boss
from tests.waiting import until

pytestmark = pytest.mark.core

QUESTION, OFFER = "Tee oder Kaffee?", "Five boats, half the price"
REASON = "Advertising is for the market only"
FOCUSED = "document.activeElement.id"
# Where the sentences of the notifications begin: all at one place, if they have one layout.
BEGINNINGS = """new Set([...document.querySelectorAll('.note-group .sentence')].map(
  (one) => Math.round(one.getBoundingClientRect().left))).size"""
RUN = "Run" if django.VERSION >= (6, 1) else "Go"


class Cast(NamedTuple):
    """Ann sits at a desk, Ben has a telephone, and the operator moderates too."""

    ann: Tab
    ben: Tab
    operator: Tab


def test_two_people_and_an_operator_need_nothing_but_the_pages(
    tab_of: Callable[..., Tab], delivery: None
) -> None:
    make_boss("olga", PASSWORD)
    cast = Cast(tab_of(DESKTOP), tab_of(PHONE), tab_of(DESKTOP))
    sign_in_by_form(cast.operator, "olga", PASSWORD)
    for step in STEPS:
        step(cast)
    assert all(faults_of(tab) == [] for tab in (cast.ann, cast.ben))


def a_guest_reads_who_runs_the_site(cast: Cast) -> None:
    """The operator has just written it, on one page of the admin."""
    operator, guest = cast.operator, cast.ann
    operator.open("/admin/site_texts/sitetexts/")
    operator.fill("Who runs the site", "Harbour Ltd, Quay 1")
    operator.fill("Privacy policy", "We keep little.")
    operator.fill("Reasons of moderators", REASON)
    operator.type_into("#id_rules-0-text", "Sell no boats")
    operator.press("Save")
    guest.open("/")
    guest.follow("About")
    guest.see("Harbour Ltd, Quay 1", "Sell no boats")
    guest.follow("Privacy policy")
    guest.see("We keep little.")


def they_sign_up_and_follow_each_other(cast: Cast) -> None:
    ann, ben = cast.ann, cast.ben
    for tab, name in ((ann, "ann"), (ben, "ben")):
        sign_up(tab, name)
        tab.see("Show who you are")
        tab.follow("Skip")
    ann.see("Follow some people")
    ann.follow("To my home page")
    find_and_follow(ann, "ben")
    ben.open("/notifications")
    ben.see("followed you")
    ben.open("/@ann")
    ben.press("Follow back @ann")
    ben.see("you follow each other")
    settle()


def a_poll_in_german_is_voted_on(cast: Cast) -> None:
    """Its author chose the language by its name; readers get it as the language of the text."""
    ann, ben = cast.ann, cast.ben
    ann.fill("Your post", QUESTION)
    ann.click(".tool[title='Add a poll']")
    ann.fill("Option 1", "Tee")
    ann.fill("Option 2", "Kaffee")
    ann.choose("Language", "Deutsch")
    ann.press("Post")
    ann.see("Posted.", QUESTION)
    settle()
    ben.open("/")
    entry = entry_of(QUESTION)
    ben.expect(ben.find(f"{entry} .content")).to_have_attribute("lang", "de")
    ben.click(f"{entry} .poll li:first-child input")
    ben.press("Vote")
    ben.see("1 person voted", "100%")


def keys_show_new_posts_repost_and_reply(cast: Cast) -> None:
    """While a post has the focus, new ones wait until they are asked for."""
    ann, ben = cast.ann, cast.ben
    ann.open("/")
    ann.type_key("j")
    ann.wait(f"{FOCUSED}.startsWith('post-')")
    ben.open("/compose")
    ben.fill("Your post", "Low water at noon")
    ben.press("Post")
    ann.see("1 new post")
    ann.type_key(".")
    ann.see("Low water at noon")
    ann.type_key("b")
    ann.expect(ann.find(f"{entry_of('Low water')} .reblog[aria-pressed=true]")).to_have_count(1)
    ann.type_key("r")
    ann.expect(ann.find("#sheet-reply-text")).to_be_focused()
    ann.see("Replying to @ben")
    ann.type_text("I bring the nets")
    ann.press("Reply")
    ann.see("Reply posted.")
    settle()


def notifications_have_one_layout_and_filters(cast: Cast) -> None:
    ben = cast.ben
    ben.open("/notifications")
    ben.see("reposted your post", "replied to you", "followed you", "I bring the nets")
    assert ben.run(BEGINNINGS) == 1
    ben.follow("Reposts")
    ben.at("/notifications/reposts")
    ben.see("reposted your post")
    ben.see_no("followed you")


def a_catch_up_is_a_press_away_and_has_an_end(cast: Cast) -> None:
    ann, ben = cast.ann, cast.ben
    ann.open("/public")
    ben.open("/")
    write_post(ben, "which lamp for the attic?")
    settle()
    ann.click(".tabs a:text-is('Catch up')")
    ann.at("/catch_up")
    ann.see("which lamp for the attic?")
    ann.press("I am done")
    ann.at("/")
    ann.open("/catch_up")
    ann.see("Nothing is new since you stopped reading.")


def labels_are_the_words_that_people_know(cast: Cast) -> None:
    ann = cast.ann
    ann.open("/@ben")
    ann.see("Joined", "Photos", "Posts and replies")
    ann.follow("Settings")
    ann.see("profile fields", "Devices")


def a_report_is_decided_with_a_suggested_reason(cast: Cast) -> None:
    """The admin's first page says that it waits, and the queue begins with what is open."""
    ann, ben, operator = cast
    ben.open("/compose")
    write_post(ben, OFFER)
    settle()
    ann.open("/")
    ann.follow("1 new post above")
    ann.see(OFFER)
    ann.click(f"{entry_of(OFFER)} .menu summary")
    ann.follow("Report…")
    ann.tick("It is spam")
    ann.fill("What should the moderators know?", "Third time today")
    ann.press("Send the report")
    ann.see("The report was sent")
    operator.open("/admin/")
    operator.see("Requests a second", "Answers that failed", "Sign-ups", "People who post")
    expect_figure(operator, "Open reports", "1")
    operator.follow("Open reports")
    operator.expect(operator.find("#changelist-filter .selected")).to_have_text("open")
    operator.click("#result_list th a")
    operator.see(OFFER, "Third time today")
    assert operator.count(operator.find(f"#mod-reasons option[value='{REASON}']")) == 1
    operator.type_into(".mod-post .mod-decide[open] [name=reason]", REASON)
    operator.press("Hide it and next")
    operator.see("The post is hidden.", "No other report waits.")
    settle()


def the_reporter_gets_an_answer_and_the_author_appeals(cast: Cast) -> None:
    ann, ben, operator = cast
    ann.open("/settings/reports")
    ann.see("Third time today", "Decided on")
    ben.open("/")
    ben.click(".side a[href='/notifications']")
    ben.see("A post of yours is hidden.", REASON)
    ben.click(".moderation_warning .excerpt")
    ben.see("A post of yours is hidden.", REASON, OFFER)
    ben.click(".notice-of summary")
    ben.fill("Why is the decision wrong?", "They are toys")
    ben.press("Send the appeal")
    ben.see("Your appeal is with the moderators.")
    operator.open("/admin/")
    expect_figure(operator, "Open appeals", "1")
    operator.follow("Open appeals")
    operator.see("They are toys")
    operator.click("#result_list .action-select")
    operator.choose("Action:", "Accept: undo the decision")
    operator.fill("Reason", "Toys they are")
    operator.press(RUN)
    operator.see_no("They are toys")
    ben.open("/notices")
    ben.see("Your appeal was accepted.")


def a_promotion_is_found_previewed_and_hidden(cast: Cast) -> None:
    """The operator searches the post and sees the card first; who sees it asks why, and hides it.

    A post that is on the page anyway is not promoted, so Ben ends his follow.
    """
    ben, operator = cast.ben, cast.operator
    ben.open("/@ann")
    ben.press("Following: unfollow @ann")
    ben.expect(ben.find("[aria-label='Follow back @ann']")).to_be_visible()
    operator.open("/admin/promotions/campaign/add/")
    operator.follow("find it")
    operator.type_into("#post-q", "@ann")
    operator.press("Find")
    operator.click(f".module:has-text('{QUESTION}') a.button")
    for field, text in CAMPAIGN.items():
        operator.type_into(f"#id_{field}", text)
    operator.press("Preview")
    operator.see(QUESTION)
    operator.press("Save")
    operator.see("was added successfully")
    settle()
    until(lambda: is_promoted_to(ben))
    ben.follow("Why do I see this?")
    ben.see("placed this promotion", "Tea Ltd", "All people here.")
    ben.press("Hide this promotion")
    ben.at("/")
    ben.see_no("Why do I see this?")


def is_promoted_to(reader: Tab) -> bool:
    """Web servers know a new campaign after a moment. A reader looks once in a second."""
    reader.run("new Promise((done) => setTimeout(done, 1000))")
    reader.open("/")
    return bool(reader.count(reader.find(".promotion")))


CAMPAIGN = {
    "name": "Tea days",
    "slot": "1",
    "paid_by": "Tea Ltd",
    "starts_at": "2026-01-01T00:00",
    "ends_at": "2999-01-01T00:00",
}


def expect_figure(operator: Tab, name: str, value: str) -> None:
    """On the admin's first page."""
    figure = operator.find(f".ops-figures li:has-text('{name}') .ops-value")
    operator.expect(figure).to_have_text(value)


STEPS: tuple[Callable[[Cast], None], ...] = (
    a_guest_reads_who_runs_the_site,
    they_sign_up_and_follow_each_other,
    a_poll_in_german_is_voted_on,
    keys_show_new_posts_repost_and_reply,
    notifications_have_one_layout_and_filters,
    a_catch_up_is_a_press_away_and_has_an_end,
    labels_are_the_words_that_people_know,
    a_report_is_decided_with_a_suggested_reason,
    the_reporter_gets_an_answer_and_the_author_appeals,
    a_promotion_is_found_previewed_and_hidden,
)
