"""The pages for people who do not see the screen, or do not see it well.

The pages for people who use no mouse, and for people who want nothing to move.
"""

from collections.abc import Mapping, Sequence

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.test import Client

from accounts.models import User
from tests.browser.axe import faults_of
from tests.browser.bringing import bring
from tests.browser.feeds import enter, make_named
from tests.browser.neighbours import make_neighbours
from tests.browser.tab import Tab
from tests.integration.accounts.consent import address
from tests.sign_ups import OUT_OF_BAND, App

pytestmark = pytest.mark.core

GUEST = (
    "/auth/sign_in",
    "/auth/sign_up",
    "/auth/password",
    "/auth/password/{ann}/{token}",
    "/public",
    "/explore",
    "/about",
    "/privacy",
    "/@ben",
)
ABSENT = ("/nothing", "/@absent")
MEMBER = (
    "/",
    "/catch_up",
    "/@ben",
    "/@ann/replies",
    "/public",
    "/explore",
    "/tags/tea",
    "/statuses/{post}",
    "/statuses/{own}/delete",
    "/statuses/{own}/edit",
    "/statuses/{own}/history",
    "/statuses/{own}/favourites",
    "/statuses/{own}/reposts",
    "/notifications",
    "/notifications/clear",
    "/search",
    "/search?q=tea",
    "/lists",
    "/lists/{list}",
    "/lists/{list}/edit?q=ben",
    "/lists/{list}/delete",
    "/bookmarks",
    "/conversations",
    "/@ben/following",
    "/@ann/followers",
    "/@ben/report",
    "/@ben/block",
    "/@ben/mute",
    "/@ben/note",
    "/@ben/lists",
    "/follow_requests",
    "/settings",
    "/settings/profile",
    "/settings/appearance",
    "/notices",
    "/scheduled",
    "/scheduled/{scheduled}/cancel",
    "/people",
    "/welcome",
    "/welcome?step=people",
    "/conversations/new",
    "/notifications/follows",
    "/settings/privacy",
    "/settings/password",
    "/settings/second_step",
    "/settings/sessions",
    "/settings/reports",
    "/settings/export",
    "/settings/bring",
    "/settings/delete",
    "/settings/email",
    "/settings/filters/new",
    "/settings/muted",
    "/settings/blocked",
)


@pytest.fixture
def names(world: None) -> dict[str, str]:
    names = make_neighbours()
    user = User.objects.get(username="ann")
    return {**names, "token": default_token_generator.make_token(user)}


def test_axe_finds_nothing_on_the_pages_of_guests(names: dict[str, str], tab: Tab) -> None:
    found = {}
    for path in ABSENT:
        tab.open(path, status=404)
        found[path] = faults_of(tab)
    assert_clean(found | look_at(tab, GUEST, names) | send_forms(tab))


def test_axe_finds_nothing_on_the_pages_of_a_person(names: dict[str, str], tab: Tab) -> None:
    enter(tab, int(names["ann"]))
    found = look_at(tab, MEMBER, names)
    tab.open("/compose")
    for part in ("Add a warning", "Add a poll", "Publish later"):
        tab.click(f".tool[title='{part}']")
    bring(tab, "drop", "boat.png")
    tab.expect(tab.find(".attached")).to_have_count(1)
    assert_clean(found | {"compose": faults_of(tab)})


def test_axe_finds_nothing_on_the_screens_of_applications(names: dict[str, str], tab: Tab) -> None:
    question = address(App.register(Client()), redirect_uri=OUT_OF_BAND)
    found = look_at(tab, [question], {})
    tab.sign_in(User.objects.get(username="ann"))
    tab.open(question)
    found["question"] = faults_of(tab)
    tab.press("Authorize")
    tab.see("Copy this code")
    assert_clean(found | {"code": faults_of(tab)})


def look_at(tab: Tab, paths: Sequence[str], names: Mapping[str, str]) -> dict[str, list[str]]:
    found = {}
    for path in paths:
        tab.open(path.format(**names))
        found[path] = faults_of(tab)
    return found


def send_forms(tab: Tab) -> dict[str, list[str]]:
    """The answers to forms of guests: two with faults, and one that says what comes next."""
    tab.open("/auth/sign_up")
    fill(tab, {"Username": "ann", "E-mail address": "x@example.org", "Password": "12345678"})
    tab.tick("I agree that others can read what I post here")
    tab.press("Create the account")
    tab.see("taken")
    found = {"sign-up with faults": faults_of(tab)}
    tab.faults.clear()
    tab.open("/auth/sign_in")
    fill(tab, {"Username or e-mail address": "ann", "Password": "a wrong one"})
    tab.press("Sign in")
    tab.see("The name or the password is wrong.")
    found["wrong password"] = faults_of(tab)
    tab.open("/auth/password")
    tab.fill("Username or e-mail address", "ann")
    tab.press("Send the mail")
    tab.see("Look at your mail")
    return found | {"mail": faults_of(tab)}


def fill(tab: Tab, texts: Mapping[str, str]) -> None:
    for label, text in texts.items():
        tab.fill(label, text)


def assert_clean(found: Mapping[str, list[str]]) -> None:
    lines = [f"{page}: {fault}" for page, faults in found.items() for fault in faults]
    assert not lines, "\n".join(lines)


# What has the focus: its role in our words, and whether one sees that it has it.
FOCUS = """(() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const isSeen = one.matches(":focus-visible")
    && (style.outlineStyle !== "none" || one.matches(".compose textarea"));
  const label = one.labels?.[0]?.textContent;
  return [one.getAttribute("aria-label") || label || one.textContent.trim(), isSeen];
})()"""
MOVING = """[...document.querySelectorAll("*")].filter((one) => {
  const style = getComputedStyle(one);
  return parseFloat(style.transitionDuration) > 0 || style.animationName !== "none";
}).length"""


@pytest.fixture
def anns_tab(world: None, tab_of, delivery: None) -> Tab:
    """Of ann."""
    ann = int(make_neighbours()["ann"])
    anns_tab: Tab = tab_of()
    enter(anns_tab, ann)
    return anns_tab


def test_home_is_walked_by_keyboard(anns_tab: Tab) -> None:
    anns_tab.open("/")
    walked = []
    for _ in range(45):
        anns_tab.type_key("Tab")
        text, is_seen = anns_tab.run(FOCUS)
        assert is_seen, text
        walked.append(text.split("\n")[0])
    order = [
        "Skip to the posts",
        "Home",
        "Settings",
        "New post",
        "My account",
        "Your post",
        "Reply, 0 replies",
    ]
    places = [
        next((n for n, text in enumerate(walked) if text.startswith(one)), None) for one in order
    ]
    assert places == sorted(places), walked
    anns_tab.open("/")
    anns_tab.type_key("Tab")
    anns_tab.type_key("Enter")
    anns_tab.wait("document.activeElement.id === 'main'")


def test_a_menu_opens_and_closes_by_keyboard(anns_tab: Tab) -> None:
    anns_tab.open("/@ann")
    summary = ".entry .menu summary"
    anns_tab.run(f"document.querySelector('{summary}').focus()")
    anns_tab.type_key("Enter")
    anns_tab.see("Delete…")
    anns_tab.type_key("Tab")
    anns_tab.type_key("Escape")
    anns_tab.see_no("Delete…")
    assert anns_tab.run(f"document.activeElement === document.querySelector('{summary}')")


def test_a_button_keeps_the_focus_while_the_server_does_not_answer(anns_tab: Tab) -> None:
    anns_tab.open("/")
    anns_tab.refuse("**/favourite")
    press_by_key(anns_tab, ".act.favourite")
    anns_tab.see("The server does not answer")
    anns_tab.refuse_nothing()
    anns_tab.type_key("Enter")
    anns_tab.wait("document.activeElement.matches('.act.favourite[aria-pressed=true]')")
    anns_tab.faults.clear()


def test_what_replaces_a_part_takes_its_focus(anns_tab: Tab) -> None:
    anns_tab.open("/")
    # As if its corner was dragged. The content policy forbids attributes with styles.
    anns_tab.run("document.querySelector('#compose-text').style.height = '200px'")
    anns_tab.fill("Your post", "by keyboard")
    press_by_key(anns_tab, "#compose .send")
    anns_tab.see("by keyboard")
    anns_tab.wait("document.activeElement.matches('#compose')")
    anns_tab.type_key("Tab")
    anns_tab.wait("document.activeElement.matches('#compose-text')")
    anns_tab.click(".poll li:first-child input")
    press_by_key(anns_tab, ".poll button")
    anns_tab.wait("document.activeElement.matches('.poll:not(:has(form))')")
    anns_tab.open("/follow_requests")
    press_by_key(anns_tab, ".people button")
    anns_tab.wait("document.activeElement.textContent === 'Follow back'")


def test_the_row_after_a_removed_one_takes_its_focus(anns_tab: Tab) -> None:
    anns_tab.open("/notifications")
    rows = anns_tab.count(anns_tab.find(".note-group"))
    opacity = "getComputedStyle(document.querySelector('.dismiss')).opacity"
    assert anns_tab.run(opacity) == "0"
    anns_tab.run("document.querySelector('.dismiss button').focus()")
    assert anns_tab.run(opacity) == "1"
    press_by_key(anns_tab, ".note-group:first-child .dismiss button")
    anns_tab.expect(anns_tab.find(".note-group")).to_have_count(rows - 1)
    anns_tab.wait("document.activeElement.matches('.note-group:first-child .dismiss button')")


def press_by_key(anns_tab: Tab, selector: str) -> None:
    anns_tab.run(f"document.querySelector('{selector}').focus()")
    anns_tab.type_key("Enter")


def test_nothing_moves_for_who_wants_it_still(world: None, tab_of) -> None:
    anns_tab: Tab = tab_of(is_still=True)
    enter(anns_tab, make_named("ann"))
    anns_tab.open("/")
    assert anns_tab.run(MOVING) == 0
