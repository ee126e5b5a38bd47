"""Two people in two browsers: what one does is soon seen by the other.

The main path in a browser that runs no scripts.
"""

import statistics
import time

import pytest

from accounts.models import User
from posts.actions.repost import repost
from relations.actions.follow import follow
from tests.browser.feeds import enter, make_named, sign_out, write_post
from tests.browser.live_site import settle
from tests.browser.tab import Tab
from tests.world import drain_all, publish

pytestmark = pytest.mark.core

SOON_S = 2
PASSWORD = "a-password-of-tests-0123"
TEXTS = ("The tide is low", "The boats are out", "Who is on the quay?")
# A double click of a person: both are there before the first answer.
TWICE = """(() => {
  const button = document.querySelector("#compose .send");
  button.click(); button.click();
})()"""


@pytest.fixture
def anns(ann: int, tab_of, delivery: None) -> Tab:
    """The tab of ann."""
    tab: Tab = tab_of()
    enter(tab, ann)
    tab.open("/")
    return tab


def test_two_people_use_nothing_but_the_buttons_of_the_pages(tab_of, delivery: None) -> None:
    """From signing up to signing out."""
    anns, bens = tab_of(), tab_of()
    sign_up(anns, "ann")
    sign_up(bens, "ben")
    for tab in (anns, bens):
        tab.press("Save and continue")
        tab.follow("To my home page")
    find_and_follow(anns, "ben")
    took_s = [seconds_to_see(text, bens, anns) for text in TEXTS]
    assert statistics.median(took_s) < SOON_S, took_s
    reply(anns, TEXTS[-1], "I am")
    delete_answered(bens, TEXTS[-1], "I am")
    anns.follow("Home")
    anns.see(*TEXTS[:-1])
    anns.see_no(TEXTS[-1])
    block(bens, "ann")
    anns.follow("Home")
    anns.see_no(TEXTS[0])
    anns.open("/@ben")
    anns.see("This account blocked you")
    leave(anns, "ann")


def test_a_double_click_and_the_back_button_publish_once(anns: Tab) -> None:
    anns.fill("Your post", "only once")
    anns.run(TWICE)
    anns.see("only once")
    anns.open("/public")
    anns.back()
    anns.see("only once")
    anns.open("/@ann")
    anns.expect(anns.find(".post")).to_have_count(1)


def test_reposts_of_several_people_are_one_entry(ann: int, anns: Tab) -> None:
    post = publish(make_named("writer"), "worth a repost")
    for name in ("cora", "dan", "eve", "finn"):
        follow(ann, who := make_named(name))
        repost(who, post)
        # In this order. A repost that arrives after a later one changes no page that is open.
        settle()
    anns.see("worth a repost")
    anns.expect(anns.find(".entry .why")).to_contain_text("and 2 others reposted")
    anns.expect(anns.find(".entry")).to_have_count(1)


def sign_up(tab: Tab, name: str) -> None:
    tab.open("/")
    tab.follow("Create an account")
    tab.fill("Username", name)
    tab.fill("E-mail address", f"{name}@example.org")
    tab.fill("Password", PASSWORD)
    tab.tick("agree that others can read what I post here")
    tab.press("Create the account")
    tab.at("/welcome")


def find_and_follow(tab: Tab, name: str) -> None:
    """By the box on each page, which leads to people, too."""
    settle()
    tab.type_into("#q", name)
    tab.type_key("Enter")
    tab.at("/search")
    tab.click(f"main button[aria-label='Follow @{name}']")
    tab.expect(tab.find(f"[aria-label='Following: unfollow @{name}']")).to_be_visible()
    settle()
    tab.follow("Home")


def seconds_to_see(text: str, writer: Tab, reader: Tab) -> float:
    """From pressing the button to the post on the page that the reader has open."""
    writer.fill("Your post", text)
    started = time.monotonic()
    writer.press("Post")
    reader.see(text)
    return time.monotonic() - started


def entry_of(text: str) -> str:
    return f".entry:has-text('{text}')"


def reply(tab: Tab, text: str, answer: str) -> None:
    tab.click(f"{entry_of(text)} .act[aria-label^=Reply]")
    tab.fill("Your reply", answer)
    tab.press("Reply")
    tab.see(answer)


def delete_answered(tab: Tab, text: str, answer: str) -> None:
    """Its author sees the answer first."""
    tab.click(f"{entry_of(text)} .when")
    tab.see(answer)
    tab.click(".chosen .menu summary")
    tab.follow("Delete…")
    tab.press("Delete")
    tab.at("/")
    tab.see_no(text)


def block(tab: Tab, name: str) -> None:
    tab.open(f"/@{name}")
    tab.click(".profile .menu summary")
    tab.follow("Block…")
    tab.press(f"Block @{name}")
    tab.see("You blocked this account")


def leave(tab: Tab, name: str) -> None:
    sign_out(tab, name)
    tab.at("/auth/sign_in")
    tab.open("/")
    tab.see("Create an account")
    tab.see_no("Sign out")


def test_a_person_reads_writes_and_leaves_without_scripts(tab_of) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    user = User.objects.get(pk=ann)
    user.set_password(PASSWORD)
    user.save()
    follow(ann, ben)
    for n in range(25):
        publish(ben, f"post number {n} of ben")
    drain_all()
    tab = tab_of(has_scripts=False)
    tab.open("/")
    tab.follow("Sign in")
    tab.fill("Username or e-mail address", "ann")
    tab.fill("Password", PASSWORD)
    tab.press("Sign in")
    tab.see("post number 24 of ben")
    write_post(tab, "written without a script")
    tab.see("written without a script")
    tab.follow("Older posts")
    tab.see("post number 0 of ben")
    tab.click(".entry:last-of-type .act.favourite")
    tab.expect(tab.find(".act.favourite[aria-pressed=true]")).to_have_count(1)
    tab.open("/@ann")
    tab.click(".post .menu summary")
    tab.follow("Delete…")
    tab.press("Delete")
    tab.at("/")
    tab.see_no("written without a script")
    sign_out(tab, "ann")
    tab.at("/auth/sign_in")
