"""Followers who asked for it are notified of each new post of the account that they follow."""

import pytest

from notifications.actions import notify_subscribers
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from tests.callers import Caller
from tests.integration.notifications.listing import body, replay_everything, rows, told
from tests.integration.posts.interacting import STATUSES, do, reply
from tests.world import drain_all, publish

ACCOUNTS = "/api/v1/accounts"


def act(caller: Caller, verb: str, other: int, sent: object = None) -> None:
    body(caller.post(f"{ACCOUNTS}/{other}/{verb}", sent))


def post(caller: Caller, visibility: str = "public", **sent: str) -> str:
    """The id of a new post, after the drain."""
    made = body(caller.post(STATUSES, {"status": "news", "visibility": visibility, **sent}))["id"]
    drain_all()
    return str(made)


@pytest.fixture
def subscribed(people, you, them):
    """Bob wants to know of ann's posts, cat only follows."""
    act(you, "follow", people[0], {"notify": True})
    act(them, "follow", people[0])
    drain_all()


def test_only_new_posts_are_told_and_only_to_those_who_asked(subscribed, people, me, you, them):
    a = str(people[0])
    of_cat = publish(people[2]).public
    first = post(me)
    post(me, "direct")
    private = post(me, "private")
    reply(me, of_cat)
    own_answer = reply(me, first)["id"]
    do(me, "reblog", of_cat)
    drain_all()
    expected = [("status", a, own_answer), ("status", a, private), ("status", a, first)]
    assert told(you) == expected
    assert [one[0] for one in told(them)] == ["reblog", "mention"]
    assert told(you, {"types[]": "status"}) == expected
    assert told(you, {"exclude_types[]": "status"}) == []
    replay_everything()
    assert told(you) == expected


def test_the_rules_of_the_list_hold_before_the_drain(subscribed, people, me, you):
    a = str(people[0])
    first, second = post(me), post(me)
    delete_post(PostId.from_public(second))
    assert told(you) == [("status", a, first)]
    for verb, back in (("mute", "unmute"), ("unfollow", "follow")):
        act(you, verb, people[0])
        assert told(you) == []
        act(you, back, people[0])
        assert told(you) == [("status", a, first)]
    do(you, "mute", first)
    assert told(you) == []
    do(you, "unmute", first)
    act(me, "block", people[1])
    assert told(you) == []


def test_muted_threads_and_a_bell_that_was_turned_off_are_silent(subscribed, people, me, you):
    first = post(me)
    do(you, "mute", first)
    reply(me, first)
    drain_all()
    do(you, "unmute", first)
    act(you, "follow", people[0], {"notify": False})
    drain_all()
    post(me)
    assert told(you) == [("status", str(people[0]), first)]


def test_those_who_follow_later_are_not_told_of_posts_before(people, me, you):
    post(me)
    act(you, "follow", people[0], {"notify": True})
    drain_all()
    replay_everything()
    assert told(you) == []


def test_many_subscribers_are_told_page_by_page(subscribed, people, me, you, them, monkeypatch):
    monkeypatch.setattr(notify_subscribers, "AT_ONCE", 1)
    act(them, "follow", people[0], {"notify": True, "quiet": True})
    drain_all()
    expected = [("status", str(people[0]), post(me))]
    assert [told(one, {"types[]": "status"}) for one in (you, them)] == [expected, expected]
    before = rows(people[1])
    replay_everything()
    assert rows(people[1]) == before


def test_favourites_and_reposts_in_a_muted_thread_leave_nothing(people, me, you, original):
    own_answer = reply(me, original)["id"]
    do(me, "mute", original)
    for one in (original, own_answer):
        do(you, "favourite", one)
        do(you, "reblog", one)
    drain_all()
    do(me, "unmute", original)
    assert told(me) == []


def test_an_endorsement_alone_does_not_notify(subscribed, people, me, you, them):
    act(you, "endorse", people[0])
    act(them, "endorse", people[0])
    drain_all()
    post(me)
    assert [one[0] for one in told(you)] == ["status"]
    assert told(them) == []
