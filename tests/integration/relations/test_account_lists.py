"""Account lists as rows: members, limits, and rows that are left over."""

from functools import partial

import pytest

from infra.sharding.buckets import shard_of
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.lists.actions import lists, members
from relations.lists.actions.lists import (
    create_account_list,
    delete_account_list,
)
from relations.lists.actions.members import add_members
from relations.lists.errors import (
    ListNotFound,
    NotFollowed,
    TooManyLists,
    TooManyMembers,
)
from relations.lists.models import AccountList, ListMember
from relations.lists.queries.lists import (
    get_list_members,
    list_account_lists,
    list_account_lists_with,
)
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.races import failures, run_together
from tests.world import drain_all, make_account, make_accounts


@pytest.fixture
def around_me(world):
    """I, four followees, and an unrelated account."""
    me, *others = make_accounts(6)
    for other in others[:4]:
        follow(me, other)
    return me, others[:4], others[4]


def on(owner, account_list):
    return set(get_list_members(owner, account_list.list_id).account_ids)


def test_they_are_on_the_shard_of_their_owner(around_me):
    me, friends, _ = around_me
    account_list = create_account_list(me, "close")
    add_members(me, account_list.list_id, friends[:2])
    assert AccountList.objects.on(shard_of(me)).filter(owner_id=me).count() == 1
    assert ListMember.objects.on(shard_of(me)).filter(owner_id=me).count() == 2


def test_ids_grow_and_none_is_given_twice(around_me):
    me, _, _ = around_me
    made = [create_account_list(me, "a", clock_ms=lambda now=now: now) for now in (10, 10, 12, 5)]
    assert [account_list.list_id for account_list in made] == [10, 11, 12, 13]
    assert list_account_lists(me) == made


def test_only_followees_can_be_members_and_of_several_all_or_none(around_me):
    me, friends, unrelated = around_me
    account_list = create_account_list(me, "close")
    blocked = friends[3]
    block(me, blocked)
    for other in (unrelated, me, blocked, 2**40):
        with pytest.raises(NotFollowed):
            add_members(me, account_list.list_id, [friends[0], other])
    assert on(me, account_list) == set()
    follow(me, unrelated, FollowOptions(quiet=True))
    add_members(me, account_list.list_id, [unrelated])
    assert on(me, account_list) == {unrelated}


@pytest.mark.parametrize("end", ["unfollow", "block", "blocked by"])
def test_whose_follow_ended_is_off_and_a_new_follow_does_not_bring_them_back(around_me, end):
    me, (friend, kept, *_), _ = around_me
    account_list = create_account_list(me, "close")
    add_members(me, account_list.list_id, [friend, kept])
    if end == "unfollow":
        unfollow(me, friend)
    else:
        writes = (me, friend) if end == "block" else (friend, me)
        block(*writes)
        drain_all()
    assert on(me, account_list) == {kept}
    assert list_account_lists_with(me, friend) == []
    if end != "unfollow":
        unblock(*writes)
        drain_all()
    follow(me, friend)
    assert on(me, account_list) == {kept}
    assert list_account_lists_with(me, friend) == []
    add_members(me, account_list.list_id, [friend])
    assert on(me, account_list) == {friend, kept}


def test_changing_a_follow_keeps_its_place(around_me):
    me, (friend, *_), _ = around_me
    account_list = create_account_list(me, "close")
    add_members(me, account_list.list_id, [friend])
    for wish in (
        FollowOptions(quiet=True),
        FollowOptions(special=True),
        FollowOptions(quiet=False),
    ):
        follow(me, friend, wish)
        assert on(me, account_list) == {friend}


def test_rosters_with_somebody(around_me):
    me, (friend, other, *_), _ = around_me
    first, second, third = (create_account_list(me, title) for title in "abc")
    for account_list in (first, third):
        add_members(me, account_list.list_id, [friend])
    add_members(me, second.list_id, [other])
    assert list_account_lists_with(me, friend) == [first, third]
    with count_calls() as calls:
        list_account_lists_with(me, friend)
    assert calls.sql == {shard_of(me): 1}


def test_deleting_leaves_no_row(around_me):
    me, friends, _ = around_me
    gone, kept = create_account_list(me, "gone"), create_account_list(me, "kept")
    for account_list in (gone, kept):
        add_members(me, account_list.list_id, friends)
    delete_account_list(me, gone.list_id)
    assert list_account_lists(me) == [kept]
    assert ListMember.objects.of(me).count() == len(friends)
    with pytest.raises(ListNotFound):
        delete_account_list(me, gone.list_id)


def test_roster_is_deleted_with_its_members_or_not_at_all(around_me, monkeypatch):
    """Killed between the two statements."""
    me, friends, _ = around_me
    account_list = create_account_list(me, "close")
    add_members(me, account_list.list_id, friends)
    done = []

    def execute_once(*args):
        if done:
            raise KeyboardInterrupt
        done.append(execute(*args))

    execute = lists.execute
    monkeypatch.setattr(lists, "execute", execute_once)
    with pytest.raises(KeyboardInterrupt):
        delete_account_list(me, account_list.list_id)
    assert done == [len(friends)]
    assert on(me, account_list) == set(friends)
    monkeypatch.undo()
    delete_account_list(me, account_list.list_id)
    assert ListMember.objects.of(me).count() == 0


def test_no_more_rosters_than_allowed_however_many_ask(around_me, monkeypatch):
    me, _, _ = around_me
    monkeypatch.setattr(lists, "MOST_LISTS", 3)
    answers = run_together([partial(create_account_list, me, str(n)) for n in range(6)])
    assert [type(error) for error in failures(answers)] == [TooManyLists] * 3
    assert len({account_list.list_id for account_list in list_account_lists(me)}) == 3


def test_no_more_members_than_allowed_however_many_ask(around_me, monkeypatch):
    me, friends, _ = around_me
    monkeypatch.setattr(members, "MOST_MEMBERS", 2)
    account_list = create_account_list(me, "close")
    adds = [partial(add_members, me, account_list.list_id, [friend]) for friend in friends]
    assert [type(e) for e in failures(run_together(adds))] == [TooManyMembers] * 2
    assert len(on(me, account_list)) == 2
    with pytest.raises(TooManyMembers):
        add_members(me, account_list.list_id, friends[:3])


def test_who_is_off_counts_no_more(around_me, monkeypatch):
    me, (one, two, three, _), _ = around_me
    monkeypatch.setattr(members, "MOST_MEMBERS", 2)
    account_list = create_account_list(me, "close")
    add_members(me, account_list.list_id, [one, two])
    unfollow(me, one)
    follow(me, one)
    add_members(me, account_list.list_id, [three])
    assert on(me, account_list) == {two, three}
    assert ListMember.objects.of(me).count() == 2


def test_adds_and_a_deletion_together_leave_no_member_without_a_roster(around_me):
    me, friends, _ = around_me
    for _ in range(5):
        list_id = create_account_list(me, "close").list_id
        adds = [partial(add_members, me, list_id, [friend]) for friend in friends]
        answers = run_together([*adds, partial(delete_account_list, me, list_id)])
        assert {type(error) for error in failures(answers)} <= {ListNotFound}
        assert ListMember.objects.of(me).count() == 0


def test_concurrent_adds_and_unfollows_leave_only_followees(around_me):
    me, (friend, *_), _ = around_me
    account_list = create_account_list(me, "close")
    add = partial(add_members, me, account_list.list_id, [friend])
    answers = run_together([add, partial(unfollow, me, friend), add])
    assert {type(error) for error in failures(answers)} <= {NotFollowed}
    assert on(me, account_list) == set()


def test_account_that_does_not_exist_has_none(world):
    assert list_account_lists(make_account() + 1) == []
