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
def subscribed(people, bob, cat):
    """Bob wants to know of ann's posts, cat only follows."""
    act(bob, "follow", people[0], {"notify": True})
    act(cat, "follow", people[0])
    drain_all()


def test_only_new_posts_are_told_and_only_to_those_who_asked(subscribed, people, ann, bob, cat):
    a = str(people[0])
    of_cat = publish(people[2]).public
    first = post(ann)
    post(ann, "direct")
    private = post(ann, "private")
    reply(ann, of_cat)
    own_answer = reply(ann, first)["id"]
    do(ann, "reblog", of_cat)
    drain_all()
    expected = [("status", a, own_answer), ("status", a, private), ("status", a, first)]
    assert told(bob) == expected
    assert [one[0] for one in told(cat)] == ["reblog", "mention"]
    assert told(bob, {"types[]": "status"}) == expected
    assert told(bob, {"exclude_types[]": "status"}) == []
    replay_everything()
    assert told(bob) == expected


def test_the_rules_of_the_list_hold_before_the_drain(subscribed, people, ann, bob):
    a = str(people[0])
    first, second = post(ann), post(ann)
    delete_post(PostId.from_public(second))
    assert told(bob) == [("status", a, first)]
    for verb, back in (("mute", "unmute"), ("unfollow", "follow")):
        act(bob, verb, people[0])
        assert told(bob) == []
        act(bob, back, people[0])
        assert told(bob) == [("status", a, first)]
    do(bob, "mute", first)
    assert told(bob) == []
    do(bob, "unmute", first)
    act(ann, "block", people[1])
    assert told(bob) == []


def test_muted_threads_and_a_bell_that_was_turned_off_are_silent(subscribed, people, ann, bob):
    first = post(ann)
    do(bob, "mute", first)
    reply(ann, first)
    drain_all()
    do(bob, "unmute", first)
    act(bob, "follow", people[0], {"notify": False})
    drain_all()
    post(ann)
    assert told(bob) == [("status", str(people[0]), first)]


def test_those_who_follow_later_are_not_told_of_posts_before(people, ann, bob):
    post(ann)
    act(bob, "follow", people[0], {"notify": True})
    drain_all()
    replay_everything()
    assert told(bob) == []


def test_many_subscribers_are_told_page_by_page(subscribed, people, ann, bob, cat, monkeypatch):
    monkeypatch.setattr(notify_subscribers, "AT_ONCE", 1)
    act(cat, "follow", people[0], {"notify": True, "quiet": True})
    drain_all()
    expected = [("status", str(people[0]), post(ann))]
    assert [told(one, {"types[]": "status"}) for one in (bob, cat)] == [expected, expected]
    before = rows(people[1])
    replay_everything()
    assert rows(people[1]) == before


def test_favourites_and_reposts_in_a_muted_thread_leave_nothing(people, ann, bob, original):
    own_answer = reply(ann, original)["id"]
    do(ann, "mute", original)
    for one in (original, own_answer):
        do(bob, "favourite", one)
        do(bob, "reblog", one)
    drain_all()
    do(ann, "unmute", original)
    assert told(ann) == []


def test_an_endorsement_alone_does_not_notify(subscribed, people, ann, bob, cat):
    act(bob, "endorse", people[0])
    act(cat, "endorse", people[0])
    drain_all()
    post(ann)
    assert [one[0] for one in told(bob)] == ["status"]
    assert told(cat) == []
