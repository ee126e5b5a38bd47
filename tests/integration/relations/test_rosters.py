"""Rosters as rows: who is on them, how many there may be, what is left of them."""

from functools import partial

import pytest

from infra.sharding.buckets import shard_of
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.rosters.actions import members, rosters
from relations.rosters.actions.members import add_members, remove_members
from relations.rosters.actions.rosters import change_roster, create_roster, delete_roster
from relations.rosters.errors import (
    NotFollowed,
    RosterNotFound,
    TooManyMembers,
    TooManyRosters,
)
from relations.rosters.models import Member, Roster
from relations.rosters.queries.rows import (
    get_members,
    get_roster,
    list_rosters,
    list_rosters_with,
)
from relations.rosters.types import RepliesPolicy, RosterWish
from relations.types import FollowWish
from tests.budgets import count_calls
from tests.races import failures, run_together
from tests.world import drain_all, make_account, make_accounts


@pytest.fixture
def people(world):
    """Me, whom I follow (four), and a stranger."""
    me, *others = make_accounts(6)
    for other in others[:4]:
        follow(me, other)
    return me, others[:4], others[4]


def on(owner, roster):
    return set(get_members(owner, roster.roster_id).account_ids)


def test_they_are_on_the_shard_of_their_owner(people):
    me, friends, _ = people
    roster = create_roster(me, "close")
    add_members(me, roster.roster_id, friends[:2])
    assert Roster.objects.on(shard_of(me)).filter(owner_id=me).count() == 1
    assert Member.objects.on(shard_of(me)).filter(owner_id=me).count() == 2


def test_ids_grow_and_none_is_given_twice(people):
    me, _, _ = people
    made = [create_roster(me, "a", clock_ms=lambda now=now: now) for now in (10, 10, 12, 5)]
    assert [roster.roster_id for roster in made] == [10, 11, 12, 13]
    assert list_rosters(me) == made


def test_of_another_account_there_are_none(people):
    me, _, stranger = people
    roster = create_roster(me, "close")
    assert list_rosters(stranger) == []
    for act in (
        partial(get_roster, stranger, roster.roster_id),
        partial(get_members, stranger, roster.roster_id),
        partial(change_roster, stranger, roster.roster_id, RosterWish("mine")),
        partial(delete_roster, stranger, roster.roster_id),
        partial(add_members, stranger, roster.roster_id, []),
        partial(remove_members, stranger, roster.roster_id, []),
    ):
        with pytest.raises(RosterNotFound):
            act()
    assert list_rosters(me) == [roster]


def test_what_is_not_wished_stays(people):
    me, _, _ = people
    roster_id = create_roster(me, "close").roster_id
    changed = change_roster(me, roster_id, RosterWish(replies_policy=RepliesPolicy.NONE))
    assert changed == (roster_id, "close", RepliesPolicy.NONE) == get_roster(me, roster_id)
    assert change_roster(me, roster_id, RosterWish("far")) == (
        roster_id, "far", RepliesPolicy.NONE,
    )  # fmt: skip
    assert change_roster(me, roster_id, RosterWish()).title == "far"


def test_adding_and_removing_twice_is_once(people):
    me, friends, _ = people
    roster = create_roster(me, "close")
    for _ in range(2):
        add_members(me, roster.roster_id, [friends[0], friends[0], friends[1]])
        assert on(me, roster) == {friends[0], friends[1]}
    for _ in range(2):
        remove_members(me, roster.roster_id, [friends[0], friends[3]])
        assert on(me, roster) == {friends[1]}


def test_only_whom_i_follow_can_be_on_it_and_of_several_all_or_none(people):
    me, friends, stranger = people
    roster = create_roster(me, "close")
    blocked = friends[3]
    block(me, blocked)
    for other in (stranger, me, blocked, 2**40):
        with pytest.raises(NotFollowed):
            add_members(me, roster.roster_id, [friends[0], other])
    assert on(me, roster) == set()
    follow(me, stranger, FollowWish(quiet=True))
    add_members(me, roster.roster_id, [stranger])
    assert on(me, roster) == {stranger}


@pytest.mark.parametrize("end", ["unfollow", "block", "blocked by"])
def test_whose_follow_ended_is_off_and_a_new_follow_does_not_bring_them_back(people, end):
    me, (friend, kept, *_), _ = people
    roster = create_roster(me, "close")
    add_members(me, roster.roster_id, [friend, kept])
    if end == "unfollow":
        unfollow(me, friend)
    else:
        acts = (me, friend) if end == "block" else (friend, me)
        block(*acts)
        drain_all()
    assert on(me, roster) == {kept}
    assert list_rosters_with(me, friend) == []
    if end != "unfollow":
        unblock(*acts)
        drain_all()
    follow(me, friend)
    assert on(me, roster) == {kept}
    assert list_rosters_with(me, friend) == []
    add_members(me, roster.roster_id, [friend])
    assert on(me, roster) == {friend, kept}


def test_changing_a_follow_keeps_its_place(people):
    me, (friend, *_), _ = people
    roster = create_roster(me, "close")
    add_members(me, roster.roster_id, [friend])
    for wish in (FollowWish(quiet=True), FollowWish(special=True), FollowWish(quiet=False)):
        follow(me, friend, wish)
        assert on(me, roster) == {friend}


def test_rosters_with_somebody(people):
    me, (friend, other, *_), _ = people
    first, second, third = (create_roster(me, title) for title in "abc")
    for roster in (first, third):
        add_members(me, roster.roster_id, [friend])
    add_members(me, second.roster_id, [other])
    assert list_rosters_with(me, friend) == [first, third]
    with count_calls() as calls:
        list_rosters_with(me, friend)
    assert calls.sql == {shard_of(me): 1}


def test_deleting_leaves_no_row(people):
    me, friends, _ = people
    gone, kept = create_roster(me, "gone"), create_roster(me, "kept")
    for roster in (gone, kept):
        add_members(me, roster.roster_id, friends)
    delete_roster(me, gone.roster_id)
    assert list_rosters(me) == [kept]
    assert Member.objects.of(me).count() == len(friends)
    with pytest.raises(RosterNotFound):
        delete_roster(me, gone.roster_id)


def test_roster_is_deleted_with_its_members_or_not_at_all(people, monkeypatch):
    """Killed between the two statements."""
    me, friends, _ = people
    roster = create_roster(me, "close")
    add_members(me, roster.roster_id, friends)
    done = []

    def execute_once(*args):
        if done:
            raise KeyboardInterrupt
        done.append(execute(*args))

    execute = rosters.execute
    monkeypatch.setattr(rosters, "execute", execute_once)
    with pytest.raises(KeyboardInterrupt):
        delete_roster(me, roster.roster_id)
    assert done == [len(friends)]
    assert on(me, roster) == set(friends)
    monkeypatch.undo()
    delete_roster(me, roster.roster_id)
    assert Member.objects.of(me).count() == 0


def test_no_more_rosters_than_allowed_however_many_ask(people, monkeypatch):
    me, _, _ = people
    monkeypatch.setattr(rosters, "MOST_ROSTERS", 3)
    answers = run_together([partial(create_roster, me, str(n)) for n in range(6)])
    assert [type(error) for error in failures(answers)] == [TooManyRosters] * 3
    assert len({roster.roster_id for roster in list_rosters(me)}) == 3


def test_no_more_members_than_allowed_however_many_ask(people, monkeypatch):
    me, friends, _ = people
    monkeypatch.setattr(members, "MOST_MEMBERS", 2)
    roster = create_roster(me, "close")
    adds = [partial(add_members, me, roster.roster_id, [friend]) for friend in friends]
    assert [type(e) for e in failures(run_together(adds))] == [TooManyMembers] * 2
    assert len(on(me, roster)) == 2
    with pytest.raises(TooManyMembers):
        add_members(me, roster.roster_id, friends[:3])


def test_who_is_off_counts_no_more(people, monkeypatch):
    me, (one, two, three, _), _ = people
    monkeypatch.setattr(members, "MOST_MEMBERS", 2)
    roster = create_roster(me, "close")
    add_members(me, roster.roster_id, [one, two])
    unfollow(me, one)
    follow(me, one)
    add_members(me, roster.roster_id, [three])
    assert on(me, roster) == {two, three}
    assert Member.objects.of(me).count() == 2


def test_adds_and_a_deletion_together_leave_no_member_without_a_roster(people):
    me, friends, _ = people
    for _ in range(5):
        roster_id = create_roster(me, "close").roster_id
        adds = [partial(add_members, me, roster_id, [friend]) for friend in friends]
        answers = run_together([*adds, partial(delete_roster, me, roster_id)])
        assert {type(error) for error in failures(answers)} <= {RosterNotFound}
        assert Member.objects.of(me).count() == 0


def test_adds_and_unfollows_together_leave_nobody_who_is_not_followed(people):
    me, (friend, *_), _ = people
    roster = create_roster(me, "close")
    add = partial(add_members, me, roster.roster_id, [friend])
    answers = run_together([add, partial(unfollow, me, friend), add])
    assert {type(error) for error in failures(answers)} <= {NotFollowed}
    assert on(me, roster) == set()


def test_account_that_does_not_exist_has_none(world):
    assert list_rosters(make_account() + 1) == []
