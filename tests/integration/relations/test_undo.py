"""An unfollow or a mute is taken back as if it had not been."""

from typing import Any

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from infra.sharding.buckets import shard_of
from relations.actions.follow import follow
from relations.queries.edges import get_edge
from relations.types import FollowOptions
from tests.callers import Caller
from tests.people import cast
from tests.truth import assert_drained_truth
from tests.world import publish

ACCOUNTS, LISTS = "/api/v1/accounts", "/api/v1/lists"
ALL = FollowOptions(quiet=True, special=True, reposts=False, notify=True, languages=["de", "en"])
people = cast(4)


def edge(follower: int, followee: int) -> Any:
    return get_edge(shard_of(follower), follower, followee)


def end(caller: Caller, other: int, act: str = "unfollow") -> str:
    answer = caller.post(f"{ACCOUNTS}/{other}/{act}")
    assert answer.status_code == 200, answer.content
    return answer["X-Undo"]


def lock(account_id: int) -> None:
    update_profile(account_id, ProfileEdit(is_locked=True))


def undo(caller: Caller, other: int, text: object) -> Any:
    return caller.post(f"{ACCOUNTS}/{other}/undo", {"undo": text})


@pytest.mark.parametrize("is_drained", [False, True])
def test_a_follow_comes_back_with_all_it_had(people, me, drain, is_drained) -> None:
    ann, bob, *_ = people
    follow(ann, bob, ALL)
    made = me.post(LISTS, {"title": "Close"}).json()
    me.post(f"{LISTS}/{made['id']}/accounts", {"account_ids": [bob]})
    publish(bob, "Hello")
    drain()
    before, was = edge(ann, bob), me.get(f"{ACCOUNTS}/relationships", {"id[]": [bob]}).json()
    text = end(me, bob)
    assert not edge(ann, bob).is_follow
    assert me.get("/api/v1/timelines/home").json() == []
    if is_drained:
        drain()
    for _ in range(2):
        assert undo(me, bob, text).json() == was[0]
    after = edge(ann, bob)
    assert after == before._replace(revision=before.revision + 2)
    assert [m["id"] for m in me.get(f"{LISTS}/{made['id']}/accounts").json()] == [str(bob)]
    drain()
    assert [post["account"]["id"] for post in me.get("/api/v1/timelines/home").json()] == [str(bob)]
    assert_drained_truth()


def test_a_locked_account_is_not_asked_again_or_told(people, me, drain) -> None:
    ann, bob, *_ = people
    follow(ann, bob)
    drain()
    theirs = Caller(bob)
    before = theirs.get("/api/v1/notifications").json()
    theirs.post("/api/v1/markers", {"notifications[last_read_id]": before[0]["id"]})
    lock(bob)
    undo(me, bob, end(me, bob))
    drain()
    assert edge(ann, bob).is_follow
    assert theirs.get("/api/v1/follow_requests").json() == []
    assert theirs.get("/api/v1/notifications").json() == before
    assert theirs.get("/api/v1/notifications/unread_count").json() == {"count": 0}


def test_a_request_comes_back_too(people, me, drain) -> None:
    bob = people[1]
    lock(bob)
    me.post(f"{ACCOUNTS}/{bob}/follow")
    assert undo(me, bob, end(me, bob)).json()["requested"] is True


def test_what_happened_since_stays(people, me, drain) -> None:
    ann, bob, eve, _ = people
    follow(ann, bob, ALL)
    text = end(me, bob)
    me.post(f"{ACCOUNTS}/{bob}/follow")
    assert undo(me, bob, text).status_code == 404
    assert edge(ann, bob).languages == ()
    follow(ann, eve)
    text = end(me, eve)
    Caller(eve).post(f"{ACCOUNTS}/{ann}/block")
    drain()
    assert undo(me, eve, text).status_code in (403, 404)
    assert not edge(ann, eve).is_follow


def test_the_text_is_of_this_pair_this_minute_and_ours(people, me, monkeypatch) -> None:
    ann, bob, eve, _ = people
    follow(ann, bob)
    text = end(me, bob)
    for caller, other, sent in (
        (me, eve, text), (Caller(eve), bob, text), (me, bob, text[:-1]), (me, bob, ""),
        (me, bob, None), (me, bob, "\U0001f600"),
    ):  # fmt: skip
        assert undo(caller, other, sent).status_code == 404
    assert undo(me, bob, ["x"]).status_code == 422
    monkeypatch.setattr("relations.actions.undo.LONGEST_S", -1)
    assert undo(me, bob, text).status_code == 404
    assert not edge(ann, bob).is_follow


def test_a_mute_gives_way_to_the_one_before(people, me) -> None:
    bob = people[1]
    for before in ({}, {"duration": 600, "notifications": False}):
        if before:
            me.post(f"{ACCOUNTS}/{bob}/mute", before)
        was = me.get(f"{ACCOUNTS}/relationships", {"id[]": [bob]}).json()
        text = end(me, bob, "mute")
        for _ in range(2):
            assert [undo(me, bob, text).json()] == was
    me.post(f"{ACCOUNTS}/{bob}/unmute")
    assert undo(me, bob, text).status_code == 404
