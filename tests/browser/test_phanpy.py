"""A client that knows nothing of Tideline: a person signs in to Phanpy and uses it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from accounts.models import User
from posts.ids import PostId
from relations.actions.follow import follow
from tests.browser.conftest import SHOTS
from tests.browser.feeds import make_named
from tests.browser.phanpy import SERVER, Programs, find_programs, phanpy_open
from tests.browser.tab import Tab
from tests.callers import Caller
from tests.waiting import until
from tests.world import drain_all, publish

PASSWORD = "a-password-of-tests-0123"
TEXT = "The tide is low #harbour"


@pytest.fixture
def programs() -> Programs:
    """Before the other fixtures: without Phanpy there is nothing to prepare."""
    found = find_programs()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def bobs(world: None) -> PostId:
    """A post of bob. He and ann follow each other, and ann has a password."""
    ann, bob = make_named("ann"), make_named("bob")
    user = User.objects.get(pk=ann)
    user.set_password(PASSWORD)
    user.save()
    follow(ann, bob)
    follow(bob, ann)
    post = publish(bob, TEXT)
    drain_all()
    return post


@pytest.fixture
def tab(programs: Programs, bobs: PostId, worker_id: str) -> Iterator[Tab]:
    """With Phanpy open, where no account is signed in. Fails if an answer of Tideline is missing,
    wrong or closed to Phanpy: then there is a 4xx, a 5xx, or an error in the console."""
    with phanpy_open(programs, worker_id) as opened:
        yield opened
        assert opened.faults == []


def test_a_person_uses_phanpy(tab: Tab, bobs: PostId) -> None:
    sign_in(tab)
    read_home(tab)
    publish_a_post(tab)
    look_at_a_profile(tab)
    search_for_a_person(tab)
    read_notifications(tab)
    favourite_a_post(tab, bobs)


@contextmanager
def pictured(tab: Tab, name: str) -> Iterator[None]:
    yield
    tab.shoot(SHOTS / f"phanpy-{name}.png")


def sign_in(tab: Tab) -> None:
    tab.open("/#/login")
    tab.type_into("#instanceURL", SERVER)
    with tab.in_window_of(f"Continue with {SERVER}"):
        with pictured(tab, "sign-in"):
            tab.see("Phanpy")
            tab.fill("Username or e-mail address", "ann")
            tab.fill("Password", PASSWORD)
        tab.press("Sign in")
        with pictured(tab, "authorize"):
            tab.see("Let Phanpy in?", "Signed in as @ann")
        tab.press("Authorize")


def read_home(tab: Tab) -> None:
    with pictured(tab, "home"):
        tab.see("The tide is low", "#harbour", "Bob")


def publish_a_post(tab: Tab) -> None:
    tab.click("#compose-button")
    tab.type_into("#compose-container textarea", "The boats are out")
    tab.click("#compose-container button[type=submit]")
    tab.see("Post published")
    tab.open("/")
    with pictured(tab, "own-post"):
        tab.see("The boats are out", "The tide is low")


def look_at_a_profile(tab: Tab) -> None:
    tab.click(".timeline .name-text:has-text('Bob')")
    with pictured(tab, "profile"):
        tab.see("@bob", "Follows you", "1 Follower")
    tab.type_key("Escape")


def search_for_a_person(tab: Tab) -> None:
    tab.type_key("/")
    tab.type_into("#search-command-container input", "bob")
    tab.type_key("Enter")
    with pictured(tab, "search"):
        tab.expect(tab.find(".accounts-list")).to_contain_text("@bob")


def read_notifications(tab: Tab) -> None:
    tab.open("/")
    tab.click(".notifications-button")
    with pictured(tab, "notifications"):
        tab.expect(tab.find(".notifications-menu")).to_contain_text("Bob followed you")
    tab.type_key("Escape")


def favourite_a_post(tab: Tab, post: PostId) -> None:
    tab.click(".timeline .status-link:has-text('The tide is low')")
    tab.click(".status-deck .favourite-button")
    with pictured(tab, "favourite"):
        tab.expect(tab.find(".status-deck .favourite-button.checked")).to_have_count(1)
    ann = Caller(User.objects.get(username="ann").pk)
    until(lambda: ann.get(f"/api/v1/statuses/{post.public}").json()["favourited"])
