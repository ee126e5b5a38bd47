"""Locked accounts: follow requests, their list, approval and rejection, over HTTP."""

from datetime import UTC, datetime

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from infra.changes.compensate import drain as drain_lane
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from relations.actions import approve_waiting
from relations.actions import block as block_module
from relations.actions.block import block, unblock
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.dying import dying_at
from tests.people import cast
from tests.truth import assert_drained_truth
from tests.world import drain_all, publish

ACCOUNTS = "/api/v1/accounts"
REQUESTS = "/api/v1/follow_requests"
EDIT = f"{ACCOUNTS}/update_credentials"


people = cast(4)


@pytest.fixture
def star(people):
    """A locked account."""
    caller = Caller(people[0])
    lock(caller, True)
    return caller


def lock(caller, is_locked):
    answer = caller.client.patch(EDIT, {"locked": is_locked}, "application/json")
    assert (answer.status_code, answer.json()["locked"]) == (200, is_locked), answer.content


def write(caller, path, body=None):
    answer = caller.post(path, body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def relation(caller, other):
    (found,) = caller.get(f"{ACCOUNTS}/relationships", {"id[]": other}).json()
    return found


def count_requests(caller):
    return caller.get(f"{ACCOUNTS}/verify_credentials").json()["source"]["follow_requests_count"]


def home(caller):
    return ids_of(caller.get("/api/v1/timelines/home"))


def test_a_request_waits_for_approval(people, star, drain):
    famous, fan, *_ = people
    me, post = Caller(fan), publish(famous).public
    assert home(me) == []
    asked = write(me, f"{ACCOUNTS}/{famous}/follow", {"notify": True})
    assert (asked["requested"], asked["following"], asked["showing_reblogs"]) == (True, False, True)
    drain()
    assert ids_of(star.get(REQUESTS)) == [str(fan)]
    assert relation(star, fan)["requested_by"]
    assert (home(me), count_requests(star)) == ([], 1)
    assert ids_of(me.get(f"{ACCOUNTS}/{famous}/followers")) == []
    approved = write(star, f"{REQUESTS}/{fan}/authorize")
    assert (approved["followed_by"], approved["requested_by"]) == (True, False)
    # Without a drain, for both of them.
    assert home(me) == [post]
    assert ids_of(star.get(f"{ACCOUNTS}/{famous}/followers")) == [str(fan)]
    assert (ids_of(star.get(REQUESTS)), count_requests(star)) == ([], 0)
    ours = relation(me, famous)
    assert (ours["following"], ours["requested"], ours["notifying"]) == (True, False, True)
    assert star.post(f"{REQUESTS}/{fan}/authorize").status_code == 404
    assert star.post(f"{REQUESTS}/{fan}/reject").status_code == 404
    drain()
    assert_drained_truth()


def test_a_quiet_request_becomes_a_quiet_follow(people, star, drain):
    famous, fan, *_ = people
    write(Caller(fan), f"{ACCOUNTS}/{famous}/follow", {"quiet": True})
    write(star, f"{REQUESTS}/{fan}/authorize")
    assert relation(Caller(fan), famous)["quiet_following"]
    drain()
    assert_drained_truth()


@pytest.mark.parametrize("end", ["reject", "unfollow", "block", "blocked"])
def test_a_request_ends(people, star, drain, end):
    famous, fan, *_ = people
    me = Caller(fan)
    write(me, f"{ACCOUNTS}/{famous}/follow")
    ends = {
        "reject": (star, f"{REQUESTS}/{fan}/reject"),
        "unfollow": (me, f"{ACCOUNTS}/{famous}/unfollow"),
        "block": (star, f"{ACCOUNTS}/{fan}/block"),
        "blocked": (me, f"{ACCOUNTS}/{famous}/block"),
    }
    write(*ends[end])
    assert not relation(me, famous)["requested"]
    assert not relation(star, fan)["requested_by"]
    assert (ids_of(star.get(REQUESTS)), count_requests(star)) == ([], 0)
    assert star.post(f"{REQUESTS}/{fan}/authorize").status_code == 404
    drain()
    assert_drained_truth()


@pytest.mark.parametrize("end", ["unfollow", "reject"])
@pytest.mark.parametrize("is_told", [True, False], ids=["told", "in-one-delivery"])
def test_a_second_request_is_a_new_one_with_its_time(people, star, drain, end, is_told):
    """Also while the end of the first one has not been delivered."""
    famous, fan, *_ = people
    me, notices = Caller(fan), "/api/v1/notifications"
    write(me, f"{ACCOUNTS}/{famous}/follow")
    drain()
    (first,) = star.get(notices).json()
    if end == "reject":
        write(star, f"{REQUESTS}/{fan}/reject")
    else:
        write(me, f"{ACCOUNTS}/{famous}/unfollow")
    if is_told:
        drain()
    asked_at = datetime.now(UTC).replace(microsecond=0)
    write(me, f"{ACCOUNTS}/{famous}/follow")
    drain()
    (second,) = star.get(notices).json()
    assert ids_of(star.get(notices, {"since_id": first["id"]})) == [second["id"]]
    assert datetime.fromisoformat(second["created_at"]) >= asked_at
    write(me, f"{ACCOUNTS}/{famous}/follow", {"notify": True})
    drain()
    assert star.get(notices).json() == [second], "other options are no new request"


def ask_all(people):
    """All ask to follow the first, the last one quietly."""
    famous, *fans = people
    for fan in fans:
        write(Caller(fan), f"{ACCOUNTS}/{famous}/follow", {"quiet": fan == fans[-1]})


def assert_all_follow(people, star):
    famous, *fans = people
    assert (ids_of(star.get(REQUESTS)), count_requests(star)) == ([], 0)
    for fan in fans:
        ours = relation(Caller(fan), famous)
        seen = (ours["following"], ours["requested"], ours["quiet_following"])
        assert seen == (True, False, fan == fans[-1])
    assert_drained_truth()


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_unlocking_approves_all_requests(people, star, drain, monkeypatch, at_once):
    monkeypatch.setattr(approve_waiting, "MOST_AT_ONCE", at_once)
    post = publish(people[0]).public
    ask_all(people)
    drain()
    lock(star, True)  # again: nothing is approved
    drain()
    assert count_requests(star) == 3
    lock(star, False)
    drain()
    assert_all_follow(people, star)
    assert [home(Caller(fan)) for fan in people[1:]] == [[post]] * 3


def test_a_death_between_two_approvals_leaves_the_rest_to_the_next_drain(people, star, drain):
    ask_all(people)
    drain()
    lock(star, False)
    with dying_at("relations.request_approved"):
        drain()
    assert count_requests(star) == 2
    drain()
    assert_all_follow(people, star)


def test_a_request_that_is_mirrored_after_the_unlocking_is_approved_too(people, star, drain):
    """The requesters' shards did the writes, and the other side does not have them yet."""
    ask_all(people)
    assert ids_of(star.get(REQUESTS)) == []
    update_profile(people[0], ProfileEdit(is_locked=False))
    drain_profile = (shard_of(people[0]), lane_of(people[0]))
    drain_lane(*drain_profile)
    drain()
    assert_all_follow(people, star)


def test_a_block_that_is_not_mirrored_yet_ends_a_request_first(people, star, drain, monkeypatch):
    famous, fan, *_ = people
    write(Caller(fan), f"{ACCOUNTS}/{famous}/follow")
    drain()
    with monkeypatch.context() as patch:
        patch.setattr(block_module, "mirror_now", lambda *pair: False)
        block(famous, fan)
        unblock(famous, fan)
    assert approve_waiting.approve_page(famous, None) is None
    drain()
    assert not relation(Caller(fan), famous)["following"]
    assert not relation(Caller(fan), famous)["requested"]
    assert_drained_truth()


def test_a_follow_of_an_unlocked_account_needs_no_approval(people, star, drain):
    famous, fan, *_ = people
    me = Caller(fan)
    write(me, f"{ACCOUNTS}/{famous}/follow", {"quiet": True})
    lock(star, False)
    assert write(me, f"{ACCOUNTS}/{famous}/follow")["quiet_following"]
    lock(star, True)
    # A follow that is on stays on.
    assert write(me, f"{ACCOUNTS}/{famous}/follow", {"quiet": False})["following"]
    drain()
    assert_drained_truth()


def test_requests_count_for_the_limits(people, star, settings):
    famous, fan, other, third = people
    settings.FOLLOW_CAP = 2
    me = Caller(fan)
    write(me, f"{ACCOUNTS}/{famous}/follow")
    write(me, f"{ACCOUNTS}/{other}/follow")
    assert me.post(f"{ACCOUNTS}/{third}/follow").status_code == 422
    settings.FOLLOW_CAP = 1
    write(star, f"{REQUESTS}/{fan}/authorize")
    settings.FOLLOW_CAP, settings.FOLLOWS_PER_DAY = 9, 2
    assert me.post(f"{ACCOUNTS}/{third}/follow").status_code == 429


def test_pages_of_requests(people, star):
    famous, *fans = people
    for moment, fan in enumerate(fans, start=1_000):
        follow(fan, famous, clock_ms=lambda moment=moment: moment)
    drain_all()
    first = star.get(REQUESTS, {"limit": 2})
    assert ids_of(first) == [str(fans[2]), str(fans[1])]
    link = next_link(first)
    star.get(link)
    with count_calls() as calls:
        rest = star.get(link)
    assert (ids_of(rest), calls.sql.total()) == ([str(fans[0])], 1)
    assert Caller(fans[0]).post(f"{REQUESTS}/{fans[1]}/authorize").status_code == 404
    assert star.post(f"{REQUESTS}/999999/authorize").status_code == 404


def test_a_blocked_account_cannot_ask(people, star):
    famous, fan, *_ = people
    block(famous, fan)
    assert Caller(fan).post(f"{ACCOUNTS}/{famous}/follow").status_code == 403
