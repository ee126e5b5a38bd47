"""Edge lists through HTTP: which accounts are visible on which list, and what pages cost."""

import pytest
from django.test import Client

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, Restriction
from infra.caching.client import redis
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.api import schema
from relations.cache import FOLLOWING, QUIET
from relations.queries import big_following
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.world import make_accounts, restrict

ACCOUNTS = "/api/v1/accounts"
QUIETLY = FollowOptions(quiet=True)
OWN_LISTS = (
    f"{ACCOUNTS}/quiet_following",
    f"{ACCOUNTS}/special_following",
    "/api/v1/blocks",
    "/api/v1/mutes",
    f"{ACCOUNTS}/quiet_followers",
)
COUNTS = f"{ACCOUNTS}/relation_counts"


@pytest.fixture
def world_of_seven(world, drain):
    """Ann follows two openly and two quietly, and is followed by one each way; all drained."""
    ann, *others = make_accounts(7)
    a, b, c, d, fan, quiet_fan = others
    follow(ann, a, FollowOptions(special=True))
    follow(ann, b, QUIETLY)
    follow(ann, c)
    follow(ann, d, FollowOptions(quiet=True, special=True))
    follow(fan, ann)
    follow(quiet_fan, ann, QUIETLY)
    drain()
    return ann, others


def listed(caller, path):
    """All pages of two."""
    shown, path = [], f"{path}?limit=2"
    while path:
        answer = caller.get(path)
        shown += ids_of(answer)
        path = next_link(answer)
    return [int(text) for text in shown]


def test_others_see_open_follows_only_and_the_owner_all(world_of_seven):
    ann, (a, b, c, d, fan, quiet_fan) = world_of_seven
    me, other, nobody = Caller(ann), Caller(fan), Client()
    for _ in ("cold", "warm"):
        following, followers = (f"{ACCOUNTS}/{ann}/{name}" for name in ("following", "followers"))
        assert listed(me, following) == [d, c, b, a]
        assert listed(me, followers) == [quiet_fan, fan]
        for viewer in (other, nobody, Caller(None)):
            assert listed(viewer, following) == [c, a]
            assert listed(viewer, followers) == [fan]
    # A followee sees its quiet followers; other accounts do not.
    assert listed(Caller(quiet_fan), f"{ACCOUNTS}/{ann}/followers") == [fan]


def test_an_account_can_hide_its_lists_from_others(world_of_seven, client, monkeypatch):
    ann, (a, _, c, _, fan, quiet_fan) = world_of_seven
    update_profile(ann, ProfileEdit(hides_collections=True))
    assert client.get(f"{ACCOUNTS}/{ann}").json()["hide_collections"] is True
    for most in (big_following.BIG_FOLLOWERS, 1):
        monkeypatch.setattr(big_following, "BIG_FOLLOWERS", most)
        for name in ("followers", "following"):
            for other in (client, Caller(fan)):
                assert ids_of(other.get(f"{ACCOUNTS}/{ann}/{name}")) == []
    assert listed(Caller(ann), f"{ACCOUNTS}/{ann}/followers") == [quiet_fan, fan]
    (familiar,) = Caller(fan).get(f"{ACCOUNTS}/familiar_followers?id[]={c}").json()
    assert familiar["accounts"] == []
    Caller(ann).post(f"{ACCOUNTS}/{a}/endorse")
    assert ids_of(client.get(f"{ACCOUNTS}/{ann}/endorsements")) == [str(a)]
    update_profile(ann, ProfileEdit(hides_collections=False))
    assert ids_of(client.get(f"{ACCOUNTS}/{ann}/followers")) == [str(fan)]


def test_familiar_followers_do_not_show_hidden_followers(world, drain):
    viewer, friend, hider = make_accounts(3)
    for follower, followee in ((viewer, friend), (friend, hider), (hider, friend)):
        follow(follower, followee)
    drain()

    def familiar(account_id):
        (found,) = Caller(account_id).get(f"{ACCOUNTS}/familiar_followers?id[]={hider}").json()
        return [int(one["id"]) for one in found["accounts"]]

    assert familiar(viewer) == [friend]
    update_profile(hider, ProfileEdit(hides_collections=True))
    assert (familiar(viewer), familiar(hider)) == ([], [friend])


def test_counts_agree_with_the_lists_each_sees(world_of_seven):
    ann, (_, b, *_, fan, quiet_fan) = world_of_seven
    path = f"{ACCOUNTS}/{ann}"

    def counts(account):
        return account["followers_count"], account["following_count"]

    me = Caller(ann)
    assert counts(me.get(path).json()) == (2, 4)
    assert counts(me.get(f"{ACCOUNTS}/verify_credentials").json()) == (2, 4)
    edited = me.client.patch(f"{ACCOUNTS}/update_credentials", b"{}", "application/json")
    assert counts(edited.json()) == (2, 4)
    for viewer in (Caller(fan), Caller(quiet_fan), Client(), Caller(None)):
        assert counts(viewer.get(path).json()) == (1, 2)
    (shown,) = Caller(fan).get(f"{ACCOUNTS}/{fan}/following").json()
    assert counts(shown) == (1, 2)
    assert counts(me.get(f"{ACCOUNTS}/{b}").json()) == (0, 0)
    assert counts(Caller(b).get(f"{ACCOUNTS}/{b}").json()) == (1, 0)


def test_own_secret_lists(world_of_seven):
    ann, (a, b, c, d, fan, quiet_fan) = world_of_seven
    for blocked in (fan, quiet_fan):
        block(ann, blocked)
    mute(ann, a)
    mute(ann, c, clock_ms=lambda: 1_000, duration_s=1)  # ran out long ago
    me = Caller(ann)
    expected = [[d, b], [d, a], [quiet_fan, fan], [a], []]
    assert [listed(me, path) for path in OWN_LISTS] == expected
    assert [listed(Caller(a), path) for path in OWN_LISTS] == [[]] * len(OWN_LISTS)


def test_quiet_followers_are_listed_to_the_account_that_they_follow(world_of_seven, drain):
    ann, (a, b, c, d, fan, quiet_fan) = world_of_seven
    path = OWN_LISTS[4]
    assert listed(Caller(ann), path) == [quiet_fan]
    for followee, expected in ((a, []), (b, [ann]), (c, []), (d, [ann]), (fan, [])):
        assert listed(Caller(followee), path) == expected
    for follower in (fan, a, b):
        follow(follower, ann, QUIETLY)
    follow(b, ann, FollowOptions(quiet=False))
    unfollow(quiet_fan, ann)
    drain()
    # Turning quiet does not begin a follow: fan keeps its place.
    assert listed(Caller(ann), path) == [a, fan]


def test_counts_of_all_five_lists(world_of_seven):
    ann, (a, b, c, _, fan, _) = world_of_seven
    me = Caller(ann)

    def counts(caller):
        return tuple(caller.get(COUNTS).json().values())

    assert list(me.get(COUNTS).json()) == list(schema.RelationCountsEntity().get_fields())
    assert counts(me) == (2, 1, 4, 2, 0)
    assert counts(Caller(b)) == (1, 1, 0, 0, 0)
    me.post(f"{ACCOUNTS}/{fan}/block")
    me.post(f"{ACCOUNTS}/{a}/unfollow")
    me.post(f"{ACCOUNTS}/{c}/follow", {"quiet": True})
    assert counts(me) == (1, 1, 3, 3, 1)
    me.post(f"{ACCOUNTS}/{fan}/unblock")
    assert counts(me) == (1, 1, 3, 3, 0)


def test_counts_of_lists_without_the_scope_of_blocks_have_no_blocks(world_of_seven):
    ann, *_ = world_of_seven
    for scope, blocked in (("read:follows", None), ("read:follows read:blocks", 0), ("follow", 0)):
        answer = Caller(ann, scope).get(COUNTS).json()
        assert (answer["following_count"], answer["blocked_count"]) == (4, blocked)


def test_a_follow_that_turns_quiet_is_hidden_from_others_at_the_next_read(world_of_seven):
    ann, (a, _, c, *_, fan, _) = world_of_seven
    other, path = Caller(fan), f"{ACCOUNTS}/{ann}/following"
    assert listed(other, path) == [c, a]
    follow(ann, c, QUIETLY)
    assert listed(other, path) == [a]
    follow(ann, c, FollowOptions(quiet=False))
    assert listed(other, path) == [c, a]
    unfollow(ann, a)
    assert listed(other, path) == [c]


@pytest.mark.parametrize("lost", [FOLLOWING, QUIET])
def test_a_cache_that_lost_one_of_the_two_lists_shows_no_secret(world_of_seven, lost):
    ann, (a, _, c, *_, fan, _) = world_of_seven
    other, path = Caller(fan), f"{ACCOUNTS}/{ann}/following"
    listed(other, path)
    redis().call("DEL", lost.key(ann))
    assert listed(other, path) == [c, a]


def test_quiet_lists_of_another_moment_are_not_used(world_of_seven):
    """As between the two commands that a change sends, or where one of them was lost."""
    ann, (a, _, c, *_, fan, _) = world_of_seven
    other, path = Caller(fan), f"{ACCOUNTS}/{ann}/following"
    listed(other, path)
    redis().run([("ZREMRANGEBYRANK", QUIET.key(ann), 0, -1), ("ZADD", QUIET.key(ann), -1, "whole")])
    assert listed(other, path) == [c, a]


def test_pages_are_full_and_cursors_name_no_hidden_account(world):
    ann, *others = make_accounts(21)
    for n, other in enumerate(others):
        follow(ann, other, QUIETLY if n % 3 else FollowOptions())
    open_ones = others[::3][::-1]
    path, shown = f"{ACCOUNTS}/{ann}/following?limit=3", []
    while path:
        answer = Client().get(path)
        page = [int(i) for i in ids_of(answer)]
        assert len(page) == min(3, len(open_ones) - len(shown))
        shown += page
        path = next_link(answer)
    assert shown == open_ones


def test_an_empty_list_costs_no_query(world_of_seven):
    _, others = world_of_seven
    empty = f"{ACCOUNTS}/{others[1]}/following"
    other = Caller(others[0])
    assert ids_of(other.get(empty)) == []
    with count_calls() as calls:
        assert ids_of(other.get(empty)) == []
    assert (calls.sql.total(), calls.round_trips) == (0, 3), "the third asks for the owner"


def test_a_change_of_an_account_is_on_the_next_list(world_of_seven):
    ann, others = world_of_seven
    guest, path = Client(), f"{ACCOUNTS}/{ann}/followers"
    shown = ids_of(guest.get(path))
    update_profile(others[4], ProfileEdit(display_name="Renamed"))
    assert guest.get(path).json()[0]["display_name"] == "Renamed"
    restrict(others[4], Restriction.SUSPENDED)
    assert ids_of(guest.get(path)) == shown[1:]


def test_lists_of_unknown_and_suspended_accounts_are_missing(world_of_seven):
    ann, others = world_of_seven
    other = Caller(others[0])
    names = ("following", "followers")
    for name in names:  # the lists are cached
        assert ids_of(other.get(f"{ACCOUNTS}/{ann}/{name}"))
    restrict(ann, Restriction.SUSPENDED)
    for account in (ann, 999_999):
        for path in (f"{ACCOUNTS}/{account}/{name}" for name in names):
            for query in ("", "?min_id=1", "?max_id=999999999999"):
                assert other.get(path + query).status_code == 404
    assert not redis().call("KEYS", "relations.follow*:v1:{999999}*")


def test_budgets_of_cold_pages(world_of_seven):
    ann, others = world_of_seven
    other = Caller(others[0])
    for name in ("following", "followers"):
        path = f"{ACCOUNTS}/{ann}/{name}"
        ids_of(other.get(path))
        redis().run([("DEL", cache.key(ann)) for cache in (FOLLOWING, QUIET)])
        redis().call("DEL", f"relations.followers:v1:{{{ann}}}")
        with count_calls() as calls:
            ids_of(other.get(path))
        assert (calls.sql.total(), calls.round_trips) == (2, 5), path


def test_own_lists_continue_from_cursors_of_ended_edges(world):
    ann, *others = make_accounts(7)
    for other in others:
        follow(ann, other, QUIETLY)
    path = f"{ACCOUNTS}/quiet_following?limit=2"
    me = Caller(ann)
    link = next_link(me.get(path))
    unfollow(ann, others[4])  # the one the cursor names
    assert ids_of(me.get(link)) == [str(others[3]), str(others[2])]
