"""The notifications page, and the number of unread ones in the navigation."""

import re
from collections.abc import Callable

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from moderation.types import DecisionKind
from posts.ids import PostId
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.people import decide, decide_on
from tests.world import drain_all, make_account, make_accounts, publish

UNREAD = re.compile(r'id="unread"[^>]*>(\d*)')


@pytest.fixture
def busy(ann: int, drain: Callable[[], int]) -> PostId:
    """A post of ann that three people favourited and one answered; one of them follows ann."""
    post, people = publish(ann, "a & b"), make_accounts(3)
    for one in people:
        Caller(one).post(f"/api/v1/statuses/{post.public}/favourite")
        drain()  # they are listed in the order of their arrival
    update_profile(people[2], ProfileEdit(display_name="Bo <b>"))
    Caller(people[0]).post(
        "/api/v1/statuses", {"status": "@ann I agree", "in_reply_to_id": post.public}
    )
    follow(people[1], ann)
    drain()
    return post


def test_what_happened_is_shown_in_groups(ann: int, busy: PostId) -> None:
    page = Browser(ann).read("/notifications")
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", page))
    assert "Bo &lt;b&gt; and 2 others favourited your post" in text
    assert "replied to you" in text and "followed you" in text
    assert "a &amp; b" in page and "I agree" in page
    assert page.count('class="note-group') == 3
    mentions = Browser(ann).read("/notifications/mentions")
    assert mentions.count('class="note-group') == 1


def test_they_are_unread_until_they_are_marked(ann: int, busy: PostId) -> None:
    browser = Browser(ann)
    assert UNREAD.findall(browser.read("/")) == ["3"]
    page = browser.read("/notifications")
    [up_to] = re.findall(r'name="up_to" value="(\d+)"', page)
    assert page.count(" unread") >= 3
    for _ in range(2):
        assert UNREAD.findall(browser.act("/notifications/read", {"up_to": up_to})) == [""]
    assert " unread" not in browser.read("/notifications")
    assert browser.send("/notifications/read", {"up_to": up_to})["Location"] == "/notifications"
    assert browser.send("/notifications/read", {"up_to": "x"}).status_code == 422
    browser.act("/notifications/read", {"up_to": "1"})
    assert UNREAD.findall(browser.read("/")) == [""], "an old page does not make them unread again"


def test_a_group_is_removed_and_all_are_cleared(ann: int, busy: PostId) -> None:
    browser = Browser(ann)
    [path] = re.findall(
        r'action="(/notifications/favourite-[^"]+)"', browser.read("/notifications")
    )
    assert browser.act(path) == ""
    page = browser.read("/notifications")
    assert "favourited" not in page and "followed you" in page
    assert "Clear all" in browser.read("/notifications/clear")
    assert browser.send("/notifications/clear")["Location"] == "/notifications"
    assert "Nothing has happened yet" in browser.read("/notifications")


@pytest.mark.parametrize("act", ["authorize", "reject"])
def test_a_request_to_follow_is_answered_where_it_is_shown(
    ann: int, act: str, drain: Callable[[], int]
) -> None:
    update_profile(ann, ProfileEdit(is_locked=True))
    asking = make_accounts(2)
    for one in asking:
        follow(one, ann)
    drain()
    browser, form = Browser(ann), {"part": "answer", "next": "/notifications"}
    page = browser.read("/notifications")
    answers = [f"/accounts/{one}/{name}" for one in asking for name in ("authorize", "reject")]
    assert sorted(re.findall(r'<form method="post" action="(/accounts/[^"]+)"', page)) == sorted(
        answers
    )
    buttons = [f"{name}--{one}" for one in asking for name in ("authorize", "reject")]
    assert sorted(re.findall(r'<button id="([^"]+)"', page)) == sorted(buttons)
    said = browser.act(f"/accounts/{asking[0]}/{act}", form)
    assert ("approved" if act == "authorize" else "rejected") in said
    assert f'id="answer-{asking[0]}"' in said and f'hx-target="#answer-{asking[0]}"' in page
    assert browser.send(f"/accounts/{asking[1]}/{act}", form)["Location"] == "/notifications"
    drain()
    page = browser.read("/notifications")
    assert "asks to follow you" not in page and ("followed you" in page) == (act == "authorize")


def test_older_ones_are_a_link_away(ann: int, drain: Callable[[], int]) -> None:
    bob = make_account("bob")
    for number in range(41):
        Caller(bob).post("/api/v1/statuses", {"status": f"@ann number {number}."})
    drain()
    browser = Browser(ann)
    page = browser.read("/notifications/mentions")
    [link] = re.findall(r'class="older" href="(\?[^"]+)"', page)
    rest = browser.read(f"/notifications/mentions{link.replace('&amp;', '&')}")
    shown = re.findall(r"number (\d+)\.", page), re.findall(r"number (\d+)\.", rest)
    assert sorted(int(one) for part in shown for one in part) == list(range(41))


def test_a_decision_of_the_moderators_is_shown_with_its_reason_and_notice(ann: int) -> None:
    decision = decide(ann, DecisionKind.LIMIT)
    assert decision is not None
    decide_on(publish(ann), DecisionKind.HIDE)
    drain_all()
    browser = Browser(ann)
    assert UNREAD.findall(browser.read("/")) == ["2"]
    page = browser.read("/notifications")
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", page))
    for part in ("only your followers see your posts", "A post of yours is hidden.", "spam"):
        assert part in text
    assert "#i-warning" in page and "Read the notice, or appeal" in text
    notices = re.findall(r'class="excerpt" href="([^"]+)"', page)
    path, _, place = notices[-1].replace("&amp;", "&").partition("#")
    assert place == f"notice-{decision.pk}"
    notice = browser.read(path)
    assert f'id="{place}"' in notice and "A post of yours is hidden." not in notice
    assert browser.send(f"/notices/{decision.pk}/appeal", {"text": "Why?"}).status_code == 303
    assert browser.read("/notifications").count("Read the notice, or appeal") == 1
