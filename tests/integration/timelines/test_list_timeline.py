"""An account list's timeline: its members' posts only, by the rules of home."""

from functools import partial

import pytest

from infra.api.errors import InvalidCursor
from infra.api.pages import Window
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import PostId
from posts.types import Draft
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.lists.actions.lists import (
    change_account_list,
    create_account_list,
    delete_account_list,
)
from relations.lists.actions.members import add_members, remove_members
from relations.lists.errors import ListNotFound
from relations.lists.types import ListOptions, RepliesPolicy
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.integration.timelines.account_lists import read_from_bottom, read_page, read_to_end
from tests.integration.timelines.homes import at, newest_first
from tests.integration.timelines.indexed import complete_index, index_everywhere
from tests.world import drain_all, find_live, make_accounts, publish
from timelines.feeds.list import account_list_page
from timelines.types import Entry


class Listing:
    """I follow four accounts. The first two are on my list."""

    def __init__(self):
        self.me, *self.friends, self.unrelated = make_accounts(6)
        for friend in self.friends:
            follow(self.me, friend)
        self.list_id = create_account_list(self.me, "close").list_id
        self.members = self.friends[:2]
        add_members(self.me, self.list_id, self.members)

    def read(self, limit=40, **cursor):
        return read_page(self.me, self.list_id, limit, **cursor)


@pytest.fixture
def mine(world):
    return Listing()


def test_members_posts_and_nobody_elses_not_even_mine(mine):
    posts = [publish(member) for member in mine.members]
    for other in (mine.me, mine.friends[2], mine.unrelated):
        publish(other)
    for _ in range(2):
        assert mine.read() == newest_first(*posts)
        drain_all()


def test_with_nobody_on_it_and_when_it_is_gone(mine):
    publish(mine.me)
    remove_members(mine.me, mine.list_id, mine.members)
    assert account_list_page(mine.me, mine.list_id, Window(20)) == ([], None, None)
    delete_account_list(mine.me, mine.list_id)
    for owner in (mine.me, mine.friends[0]):
        with pytest.raises(ListNotFound):
            read_page(owner, mine.list_id)


def test_cursors_are_those_of_home(mine):
    posts = [publish(mine.members[n % 2], clock_s=at(100 + n)) for n in range(10)]
    drain_all()
    between = {"max_id": posts[8].public, "since_id": posts[2].public}
    assert mine.read(**between) == newest_first(*posts[3:8])
    assert mine.read(3, since_id=posts[2].public) == newest_first(*posts[7:])
    assert mine.read(3, min_id=posts[2].public) == newest_first(*posts[3:6])
    delete_post(posts[5])
    assert mine.read(1, max_id=posts[5].public) == newest_first(posts[4])
    page = partial(account_list_page, mine.me, mine.list_id)
    assert page(Window(9)).older is None, "the one that is left is deleted"
    assert page(Window(8)).older == posts[1].public
    assert page(Window(8)).newer == posts[9].public
    with pytest.raises(InvalidCursor):
        mine.read(max_id="x" * 13)


def test_ties_are_exact_above_and_below_the_index(mine):
    """Posts of the same seconds, of which the index has the later."""
    posts = [
        publish(m, clock_s=at(100 + s)) for s in range(2) for _ in range(3) for m in mine.members
    ]
    index_everywhere([Entry.of_post(post) for post in posts], 101)
    for limit in (1, 4, 40):
        assert read_to_end(mine.me, mine.list_id, limit) == newest_first(*posts)
        assert read_from_bottom(mine.me, mine.list_id, limit) == newest_first(*posts)


def test_rules_hold_at_the_next_read_and_pages_stay_full(mine):
    loud, quiet = mine.members
    kept = [publish(quiet, clock_s=at(100 + n)) for n in range(6)]
    for n in range(50):
        publish(loud, clock_s=at(200 + n))
    drain_all()
    assert mine.read(3) != newest_first(*kept)[:3]
    for hide, show in (
        (partial(mute, mine.me, loud), partial(unmute, mine.me, loud)),
        (partial(block, loud, mine.me), partial(unblock, loud, mine.me)),
    ):
        hide()
        assert mine.read(3) == newest_first(*kept)[:3], "no drain has run"
        show()
    unfollow(mine.me, loud)
    assert mine.read(3) == newest_first(*kept)[:3]
    delete_post(kept[5])
    assert mine.read(3) == newest_first(*kept[:5])[:3]


def test_unfollowed_member_is_gone_and_does_not_come_back(mine):
    publish(mine.members[0])
    unfollow(mine.me, mine.members[0])
    assert mine.read() == []
    follow(mine.me, mine.members[0])
    drain_all()
    assert mine.read() == []


def test_a_post_stands_where_a_member_brought_it_last(mine):
    one, other = mine.members
    post = publish(one, clock_s=at(100))
    middle = publish(other, clock_s=at(200))
    event = repost(other, post, clock_s=at(300))
    repost(mine.friends[2], post, clock_s=at(400))
    drain_all()
    assert mine.read() == newest_first(event, middle)
    assert read_to_end(mine.me, mine.list_id, 1) == newest_first(event, middle)
    follow(mine.me, other, FollowOptions(reposts=False))
    assert mine.read() == newest_first(middle, post)


def test_repost_of_one_who_is_followed_but_no_member(mine):
    post = publish(mine.friends[3], clock_s=at(100))
    event = repost(mine.members[0], post, clock_s=at(200))
    drain_all()
    assert mine.read() == [event.public]
    follow(mine.me, mine.members[0], FollowOptions(reposts=False))
    assert mine.read() == []


def test_which_replies_are_shown(mine):
    member, other = mine.members
    parents = {
        name: publish(who)
        for name, who in {
            "to oneself": member, "to me": mine.me, "to a member": other,
            "to a followee": mine.friends[3], "to an unrelated account": mine.unrelated,
        }.items()
    }  # fmt: skip
    replies = {
        create_post(member, Draft("so?", in_reply_to=parent)).public: name
        for name, parent in parents.items()
    }
    drain_all()

    def shown(policy):
        change_account_list(mine.me, mine.list_id, ListOptions(replies_policy=policy))
        return {replies[post] for post in mine.read() if post in replies}

    always = {"to oneself", "to me"}
    assert shown(RepliesPolicy.NONE) == always
    assert shown(RepliesPolicy.LIST) == {*always, "to a member"}
    assert shown(RepliesPolicy.FOLLOWED) == {*always, "to a member", "to a followee"}


def test_it_does_not_touch_the_live_timeline(mine):
    """Also when all found posts are deleted; at home that would request a repair."""
    posts = [publish(mine.members[0], clock_s=at(100 + n)) for n in range(30)]
    drain_all()
    for post in posts:
        delete_post(post)
    redis().call("FLUSHDB")
    assert mine.read() == []
    assert find_live(mine.me) is None
    assert not [key for key in redis().call("KEYS", "*") if b"timelines.repairs" in key]


def test_warm_it_costs_two_queries_at_home_and_one_a_shard_for_reposts(mine):
    made = [publish(mine.members[n % 2]) for n in range(24)]
    index_everywhere([Entry.of_post(post) for post in made], 0)
    mine.read(20)
    with count_calls() as calls:
        assert len(mine.read(20)) == 20
    authors = {shard_of(member) for member in mine.members}
    assert calls.sql == {
        alias: 2 * (alias == shard_of(mine.me)) + (alias in authors)
        for alias in {shard_of(mine.me), *authors}
    }
    assert calls.round_trips == 2


def test_queries_do_not_grow_with_the_members(mine):
    more = make_accounts(40)
    for one in more:
        follow(mine.me, one)
        publish(one)
    add_members(mine.me, mine.list_id, more)
    drain_all()
    mine.read(20)
    with count_calls() as calls:
        assert len(mine.read(20)) == 20
    assert max(calls.sql.values()) <= 4, calls.sql


def test_without_redis_it_is_the_same(mine):
    posts = [publish(member) for member in mine.members for _ in range(3)]
    drain_all()
    redis().call("FLUSHDB")
    assert mine.read() == newest_first(*posts)


def test_a_repost_that_has_not_arrived_does_not_take_a_post_away(each_index, mine):
    """The shard of the post knows of the repost at once. The page would have the author's later
    post, and not this one."""
    one, other = mine.members
    posts = [publish(one, clock_s=at(second)) for second in (10, 11)]
    drain_all()
    complete_index(0)
    reposted, later = repost(other, posts[0], clock_s=at(12)).public, posts[1].public
    assert mine.read() == newest_first(*posts)
    assert mine.read(max_id=later) == [posts[0].public]
    assert mine.read(min_id=PostId(0, 0, 0).public) == newest_first(*posts)
    drain_all()
    assert mine.read() == [reposted, later]
    assert mine.read(max_id=later) == []
