"""Another process shows every change at its very next read."""

from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

import orjson
import pytest

from accounts.actions.tokens import end_tokens
from accounts.actions.update_profile import update_profile
from accounts.models import AccessToken
from accounts.types import ProfileEdit, Restriction
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.ids import PostId
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from tests.callers import token_of
from tests.disconnected_process import Say, ids_in
from tests.integration.timelines.stars import Fans
from tests.world import NOW, drain_all, make_accounts, publish, restrict

pytestmark = pytest.mark.slow

HOME = "/api/v1/timelines/home"


class Feed(NamedTuple):
    """I follow a friend, whose post the other process has shown me twice."""

    me: int
    friend: int
    other: int
    post: PostId
    token: str


@pytest.fixture
def feed(world: None, disconnected: Say) -> Feed:
    me, friend, other = make_accounts(3)
    follow(me, friend)
    feed = Feed(me, friend, other, publish(friend), token_of(me))
    drain_all()
    for _ in range(3):
        assert ids_in(disconnected("ask", feed.token, HOME)) == {feed.post.public}
    return feed


def hide(post: PostId) -> None:
    assert hide_post(post, NOW, revision=1)


@pytest.mark.parametrize(
    "change",
    [
        lambda feed: delete_post(feed.post),
        lambda feed: hide(feed.post),
        lambda feed: restrict(feed.friend, Restriction.SUSPENDED),
        lambda feed: block(feed.me, feed.friend),
        lambda feed: block(feed.friend, feed.me),
        lambda feed: mute(feed.me, feed.friend),
        lambda feed: unfollow(feed.me, feed.friend),
    ],
    ids=["delete", "hide", "suspend", "block", "blocked by", "mute", "unfollow"],
)
def test_a_post_is_gone_at_the_next_read(
    feed: Feed, disconnected: Say, change: Callable[[Feed], object]
) -> None:
    change(feed)
    assert ids_in(disconnected("ask", feed.token, HOME)) == set()


@pytest.mark.parametrize("change", [delete_post, hide])
def test_a_post_is_gone_from_a_list_at_the_next_read(
    feed: Feed, disconnected: Say, change: Callable[[PostId], object]
) -> None:
    made = create_account_list(feed.me, "friends")
    add_members(feed.me, made.list_id, [feed.friend])
    path = f"/api/v1/timelines/list/{made.list_id}"
    for _ in range(3):
        assert ids_in(disconnected("ask", feed.token, path)) == {feed.post.public}
    change(feed.post)
    assert ids_in(disconnected("ask", feed.token, path)) == set()


def test_a_new_followee_is_there_at_the_next_read(feed: Feed, disconnected: Say) -> None:
    post = publish(feed.other)
    follow(feed.me, feed.other)
    shown = ids_in(disconnected("ask", feed.token, HOME))
    assert shown == {feed.post.public, post.public}


def test_a_new_name_is_there_at_the_next_read(feed: Feed, disconnected: Say) -> None:
    update_profile(feed.friend, ProfileEdit(display_name="Renamed"))
    assert '"display_name":"Renamed"' in disconnected("ask", feed.token, HOME)


def test_a_restriction_is_there_at_the_next_read(feed: Feed, disconnected: Say) -> None:
    path = f"/api/v1/statuses/{feed.post.public}"
    for _ in range(3):
        assert '"limited":true' not in disconnected("ask", feed.token, path)
    restrict(feed.friend, Restriction.LIMITED)
    assert '"limited":true' in disconnected("ask", feed.token, path)


def test_my_own_interactions_are_there_at_the_next_read(feed: Feed, disconnected: Say) -> None:
    for path in (HOME, f"/api/v1/statuses/{feed.post.public}"):
        for is_on in (True, False, True, False):
            mark_post(feed.me, feed.post, Kind.FAVOURITE, is_on)
            (repost if is_on else undo_repost)(feed.me, feed.post)
            assert _flags(disconnected("ask", feed.token, path)) == {(is_on, is_on)}


def _flags(answer: str) -> set[tuple[bool, bool]]:
    found = orjson.loads(answer.partition(" ")[2])
    posts = [one["reblog"] or one for one in (found if isinstance(found, list) else [found])]
    return {(one["favourited"], one["reblogged"]) for one in posts}


def test_a_revoked_token_is_refused_at_once(feed: Feed, disconnected: Say) -> None:
    ended = token_of(feed.me)
    assert disconnected("ask", ended, HOME).startswith("200")
    checksum = sha256(ended.encode()).hexdigest()
    assert end_tokens(AccessToken.objects.filter(token_checksum=checksum)) == 1
    assert disconnected("ask", ended, HOME).startswith("401")


def test_a_star_that_became_hot_elsewhere_is_merged(fans: Fans, disconnected: Say) -> None:
    token = token_of(fans.me)
    fans.post()
    drain_all()
    for _ in range(3):
        assert ids_in(disconnected("ask", token, HOME)) == set(fans.expected())
    fans.heat()
    fans.post()
    drain_all()
    assert ids_in(disconnected("ask", token, HOME)) == set(fans.expected())
    fans.cool()
    fans.post()
    drain_all()
    assert ids_in(disconnected("ask", token, HOME)) == set(fans.expected())
