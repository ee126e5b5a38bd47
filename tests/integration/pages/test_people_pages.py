"""Followers, followees, muted and blocked people on pages."""

import re

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.integration.pages.browsing import Browser
from tests.world import make_account

QUIET, SPECIAL = FollowOptions(quiet=True), FollowOptions(special=True)


def _people(page: str) -> list[int]:
    return [int(one) for one in re.findall(r'<li id="person-(\d+)"', page)]


@pytest.mark.usefixtures("delivered_at_once")
def test_followers_come_page_by_page_with_a_button_each(ann: int) -> None:
    followers = [make_account() for _ in range(45)]
    for one in followers:
        follow(one, ann)
    browser = Browser(followers[0])
    page = browser.read("/@ann/followers")
    [older] = re.findall(r'class="older" href="(\?[^"]+)"', page)
    rest = browser.read(f"/@ann/followers{older}")
    assert _people(page) + _people(rest) == followers[::-1]
    assert page.count(">Follow</button>") == 40 and rest.count(">Follow</button>") == 4
    assert "Remove" not in page


@pytest.mark.usefixtures("delivered_at_once")
def test_a_follower_is_removed_on_the_own_page(ann: int, bob: int) -> None:
    follow(bob, ann)
    browser = Browser(ann)
    assert ">Remove</button>" in browser.read("/@ann/followers")
    row = browser.act(f"/accounts/{bob}/remove_from_followers", {"part": "follower"})
    assert "Remove" not in row and ">Follow</button>" in row
    assert _people(browser.read("/@ann/followers")) == []


@pytest.mark.usefixtures("delivered_at_once")
def test_hidden_lists_say_so_and_their_owner_sees_them(ann: int, bob: int) -> None:
    follow(bob, ann)
    follow(ann, bob)
    update_profile(ann, ProfileEdit(hides_collections=True))
    for name in ("followers", "following"):
        page = Browser(bob).read(f"/@ann/{name}")
        assert "does not show this list" in page and _people(page) == []
        assert _people(Browser(ann).read(f"/@ann/{name}")) == [bob]


@pytest.mark.usefixtures("delivered_at_once")
def test_lists_of_ones_own(ann: int, bob: int) -> None:
    cyd = make_account("cyd")
    follow(ann, bob, QUIET)
    follow(cyd, ann, QUIET)
    lists = {"/quiet_following": [bob], "/quiet_followers": [cyd], "/special_following": []}
    for path, people in lists.items():
        assert _people(Browser(ann).read(path)) == people
    assert "Following quietly" in Browser(ann).read("/quiet_following")
    assert _people(Browser(bob).read("/@ann/following")) == []
    follow(ann, bob, SPECIAL)
    assert _people(Browser(ann).read("/special_following")) == [bob]


def test_a_mute_and_a_block_end_in_their_lists(ann: int, bob: int) -> None:
    cyd, browser = make_account("cyd"), Browser(ann)
    mute(ann, bob, 3_600)
    block(ann, cyd)
    muted, blocked = browser.read("/settings/muted"), browser.read("/settings/blocked")
    assert _people(muted) == [bob] and "muted until" in muted
    assert _people(blocked) == [cyd]
    assert ">Follow</button>" in browser.act(f"/accounts/{bob}/unmute", {"part": "person"})
    assert ">Follow</button>" in browser.act(f"/accounts/{cyd}/unblock", {"part": "person"})
    assert not _people(browser.read("/settings/muted") + browser.read("/settings/blocked"))


def test_an_empty_place_in_the_directory_is_its_beginning(ann: int) -> None:
    for _ in range(21):
        make_account()
    page = Browser(ann).read("/people?order=new&offset=")
    assert len(_people(page)) == 20 and "offset=20" in page
