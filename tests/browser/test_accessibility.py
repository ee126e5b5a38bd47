"""The pages for people who do not see the screen, or do not see it well."""

from collections.abc import Mapping, Sequence

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.test import Client

from accounts.models import User
from tests.browser.axe import faults_of
from tests.browser.bringing import bring
from tests.browser.feeds import enter
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
