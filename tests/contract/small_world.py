"""A small world for a client that tries everything: four people, their posts, a list, a strike."""

from typing import NamedTuple

from moderation.types import DecisionKind
from posts.actions.create_post import create_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.types import Draft, Kind
from relations.actions.follow import follow
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from tests.callers import token_of
from tests.people import decide
from tests.world import drain_all, make_accounts, publish


class SmallWorld(NamedTuple):
    """Tokens of two of the people, neither of whom follows or blocks the other."""

    mine: str
    others: str


def make_small_world() -> SmallWorld:
    me, friend, other, unrelated = make_accounts(4)
    for follower, followee in ((me, friend), (friend, me), (other, friend), (friend, unrelated)):
        follow(follower, followee)
    drain_all()
    posts = [publish(author, f"hello from {author}") for author in (me, friend, other)]
    create_post(friend, Draft("welcome", in_reply_to=posts[0]))
    repost(friend, posts[2])
    for post in posts:
        mark_post(me, post, Kind.FAVOURITE, True)
        mark_post(me, post, Kind.BOOKMARK, True)
    add_members(me, create_account_list(me, "close").list_id, [friend])
    decide(me, DecisionKind.WARN)
    drain_all()
    return SmallWorld(token_of(me), token_of(other))
