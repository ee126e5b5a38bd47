"""What people do with an account on its page: in place, and without scripts.

Followers, followees, muted and blocked people on pages.
"""

import re

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, Restriction
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.callers import Caller
from tests.integration.pages.browsing import PRESSED, Browser
from tests.world import make_account, publish, restrict

OPTIONS = [("notify", "notifying"), ("special", "special"), ("quiet", "quiet_following")]


def _relationship(viewer: int, other: int) -> dict[str, object]:
    [found] = Caller(viewer).get(f"/api/v1/accounts/relationships?id[]={other}").json()
    return dict(found)


def test_a_follow_begins_and_ends_in_place(ann: int, bob: int) -> None:
    browser, acts = Browser(ann), f"/accounts/{bob}"
    page = browser.read("/@bob")
    assert ">Follow</button>" in page and "Appearance(" not in page
    for _ in range(2):
        part = browser.act(f"{acts}/follow", {"part": "profile"})
        assert ">Following</button>" in part and "<html" not in part
    assert "<b>1</b> follower" in browser.read("/@bob")
    assert ">Follow</button>" in browser.act(f"{acts}/unfollow", {"part": "profile"})


def test_without_a_script_the_browser_goes_back_to_the_page(ann: int, bob: int) -> None:
    answer = Browser(ann).send(f"/accounts/{bob}/follow", {"next": "/@bob"})
    assert (answer.status_code, answer["Location"]) == (303, "/@bob")
    assert Browser().send(f"/accounts/{bob}/follow")["Location"].startswith("/auth/sign_in")


@pytest.mark.parametrize(
    ("act", "field", "value"), [("unfollow", "following", False), ("mute", "muting", True)]
)
def test_without_a_script_what_can_be_undone_is_asked_about(
    ann: int, bob: int, act: str, field: str, value: bool
) -> None:
    browser, path = Browser(ann), f"/accounts/{bob}/{act}"
    browser.send(f"/accounts/{bob}/follow")
    assert browser.send(path)["Location"] == f"/@bob/{act}"
    assert _relationship(ann, bob)[field] is not value
    page = browser.read(f"/@bob/{act}")
    assert 'name="asked"' in page and f'action="{path}"' in page
    browser.send(path, {"asked": "1", "next": "/@bob"})
    assert _relationship(ann, bob)[field] is value


def test_an_account_that_is_not_there_has_a_page_in_the_frame(ann: int) -> None:
    for browser in (Browser(ann), Browser()):
        page = browser.read("/@absent", status=404)
        assert "There is no account @absent" in page and "/search" in page
        assert 'class="side"' in page


@pytest.mark.parametrize(("option", "field"), OPTIONS)
def test_an_option_of_a_follow_is_set_and_taken_back(
    ann: int, bob: int, option: str, field: str
) -> None:
    browser, path = Browser(ann), f"/accounts/{bob}/follow"
    browser.act(path, {"part": "profile"})
    for value in ("true", "false"):
        part = browser.act(path, {"part": "profile", option: value})
        assert _relationship(ann, bob)[field] is (value == "true")
        assert '<details class="menu" open>' in part


def test_reposts_are_hidden(ann: int, bob: int) -> None:
    browser, path = Browser(ann), f"/accounts/{bob}/follow"
    assert browser.act(path, {"part": "profile"}).count(PRESSED) == 1
    assert PRESSED not in browser.act(path, {"part": "profile", "reblogs": "false"})
    assert _relationship(ann, bob)["showing_reblogs"] is False


@pytest.mark.parametrize(
    ("form", "fields", "words"),
    [
        ("block", {}, "You blocked this account"),
        (
            "mute",
            {"asked": "1", "duration": "1800", "notifications": "false"},
            "You muted this account until",
        ),
        ("note", {"comment": "met at the <b>lake"}, "met at the &lt;b&gt;lake"),
    ],
)
def test_a_question_is_answered_and_the_page_says_so(
    ann: int, bob: int, form: str, fields: dict[str, str], words: str
) -> None:
    browser = Browser(ann)
    assert f'action="/accounts/{bob}/{form}"' in browser.read(f"/@bob/{form}")
    assert browser.send(f"/accounts/{bob}/{form}", fields).status_code == 303
    assert words in browser.read("/@bob")


def test_who_is_blocked_reads_so_and_cannot_follow(ann: int, bob: int) -> None:
    publish(bob)
    block(bob, ann)
    page = Browser(ann).read("/@bob")
    assert "This account blocked you" in page and "Follow</button>" not in page
    assert Browser(ann).send(f"/accounts/{bob}/follow").status_code == 403


def test_a_suspended_account_has_a_page_that_says_so(ann: int, bob: int) -> None:
    restrict(bob, Restriction.SUSPENDED)
    assert "deleted or suspended" in Browser(ann).read("/@bob", 404)


@pytest.mark.usefixtures("delivered_at_once")
def test_a_locked_account_is_asked_and_answers(ann: int, bob: int) -> None:
    update_profile(bob, ProfileEdit(is_locked=True))
    asking, asked = Browser(ann), Browser(bob)
    part = asking.act(f"/accounts/{bob}/follow", {"part": "profile"})
    assert ">Requested</button>" in part
    page = asked.read("/follow_requests")
    assert 'Follow requests <b class="tag">1</b>' in page and f'id="person-{ann}"' in page
    row = asked.act(f"/accounts/{ann}/authorize", {"part": "person"})
    assert "Follow back" in row and "Approve" not in row
    assert '<b class="tag"' not in asked.read("/follow_requests")
    assert ">Following</button>" in asking.read("/@bob")


def test_a_request_is_rejected(ann: int, bob: int) -> None:
    update_profile(bob, ProfileEdit(is_locked=True))
    follow(ann, bob)
    assert Browser(bob).send(f"/accounts/{ann}/reject").status_code == 303
    assert ">Ask to follow</button>" in Browser(ann).read("/@bob")


def test_an_account_is_put_into_the_chosen_lists_only(ann: int, bob: int) -> None:
    follow(ann, bob)
    ids = [Caller(ann).post("/api/v1/lists", {"title": t}).json()["id"] for t in ("tea", "sea")]
    browser = Browser(ann)
    for chosen in ([ids[0]], [ids[1]], [ids[1]], []):
        assert browser.send("/@bob/lists", {"lists": chosen})["Location"] == "/@bob"
        page = browser.read("/@bob/lists")
        assert [i for i in ids if f'value="{i}" checked' in page] == chosen


def test_a_report_names_the_chosen_posts(ann: int, bob: int) -> None:
    post, other, browser = publish(bob), publish(bob), Browser(ann)
    page = browser.read(f"/@bob/report?status={post.public}")
    assert f'value="{post.public}" checked' in page and f'value="{other.public}" >' in page
    form = {"category": "spam", "comment": "tea", "status_ids": [post.public]}
    answer = browser.send("/@bob/report", form)
    assert answer.status_code == 200 and b"The report was sent" in answer.content
    assert browser.send("/@bob/report", {**form, "status_ids": ["x"]}).status_code == 404


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
    assert "Remove from followers: @bob" in browser.read("/@ann/followers")
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
