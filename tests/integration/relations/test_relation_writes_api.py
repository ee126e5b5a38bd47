"""Follow with options, block and mute through HTTP, with real tokens."""

from datetime import UTC, datetime

import pytest

from relations.actions.follow import follow
from tests.callers import Caller
from tests.truth import assert_drained_truth

ACCOUNTS = "/api/v1/accounts"
HOUR_S = 3_600


def write(caller, target, name, body=None):
    answer = caller.post(f"{ACCOUNTS}/{target}/{name}", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def how(relation):
    names = ("following", "quiet_following", "special", "showing_reblogs", "notifying")
    return tuple(relation[name] for name in names)


def test_each_option_changes_that_one_only(people, me, drain):
    _, bob, _ = people
    assert how(write(me, bob, "follow")) == (True, False, False, True, False)
    assert how(write(me, bob, "follow", {"special": True})) == (True, False, True, True, False)
    assert how(write(me, bob, "follow", {"quiet": True})) == (True, True, True, True, False)
    assert how(write(me, bob, "follow", {"notify": True})) == (True, True, True, True, True)
    assert how(write(me, bob, "follow", {"reblogs": False})) == (True, True, True, False, True)
    assert how(write(me, bob, "follow", {"special": False})) == (True, True, False, False, True)
    assert how(write(me, bob, "follow")) == (True, True, False, False, True)
    assert how(write(me, bob, "follow", {"quiet": False})) == (True, False, False, False, True)
    drain()
    assert_drained_truth()


def test_all_options_of_a_new_follow_at_once(people, me):
    wish = {"quiet": True, "special": True, "reblogs": False, "notify": True, "languages": []}
    assert how(write(me, people[1], "follow", wish)) == (True, True, True, False, True)
    assert how(write(me, people[1], "unfollow")) == (False, False, False, False, False)
    assert how(write(me, people[1], "follow")) == (True, False, False, True, False)


@pytest.mark.parametrize("sent", [["english language"], ["e"], ["en\n"], ["en,de"], ["x" * 17]])
def test_what_is_no_language_is_refused(people, me, sent):
    answer = me.post(f"{ACCOUNTS}/{people[1]}/follow", {"languages": sent})
    assert (answer.status_code, "languages" in answer.json()["details"]) == (422, True)
    many = [f"aa-{n:04d}" for n in range(41)]
    assert me.post(f"{ACCOUNTS}/{people[1]}/follow", {"languages": many}).status_code == 422
    [shown] = me.get(f"{ACCOUNTS}/relationships?id={people[1]}").json()
    assert (shown["following"], shown["languages"]) == (False, None)


def test_block_ends_both_follows_and_forbids_new_ones(people, me, drain):
    ann, bob, _ = people
    follow(ann, bob)
    follow(bob, ann)
    drain()
    for _ in range(2):
        relation = write(me, bob, "block")
        assert (relation["blocking"], relation["following"], relation["followed_by"]) == (
            (True, False, False)
        )
    assert me.post(f"{ACCOUNTS}/{bob}/follow").status_code == 403
    assert Caller(bob).post(f"{ACCOUNTS}/{ann}/follow").status_code == 403
    for _ in range(2):
        assert write(me, bob, "unblock")["blocking"] is False
    assert write(me, bob, "follow")["following"] is True
    drain()
    assert_drained_truth()


def test_mute_with_and_without_an_end(people, me):
    _, bob, eve = people
    for _ in range(2):
        relation = write(me, bob, "mute")
        assert (relation["muting"], relation["muting_notifications"]) == (True, True)
    before = datetime.now(UTC).timestamp()
    body = {"duration": HOUR_S, "notifications": False}
    relation = write(me, eve, "mute", body)
    assert (relation["muting"], relation["muting_notifications"]) == (True, False)
    shown = {a["id"]: a["mute_expires_at"] for a in me.get("/api/v1/mutes").json()}
    assert shown[str(bob)] is None
    expires_at = datetime.fromisoformat(shown[str(eve)]).timestamp()
    assert before + HOUR_S - 1 <= expires_at <= before + HOUR_S + 60
    for _ in range(2):
        assert write(me, bob, "unmute")["muting"] is False
    assert [a["id"] for a in me.get("/api/v1/mutes").json()] == [str(eve)]
