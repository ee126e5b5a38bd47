"""What people do in a storm: everything that moves counts."""

import random
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.types import Kind
from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.errors import CannotFollowBlocked
from relations.types import FollowOptions
from tests.world import publish

WEIGHTS = {
    "follow": 30,
    "follow_quietly": 10,
    "unfollow": 20,
    "remove_follower": 5,
    "block": 5,
    "unblock": 5,
    "publish": 15,
    "delete": 10,
    "favourite": 10,
    "unfavourite": 5,
    "repost": 5,
    "take_back": 3,
}
# Acts that are one transaction: only those can be cut off before its commit from outside.
ONE_TRANSACTION = {"follow", "follow_quietly", "unfollow", "publish", "favourite", "repost"}


class Act(NamedTuple):
    name: str
    actor_id: int
    call: Callable[[], None]


class Acts:
    """Draws acts of a few people on each other and on each other's latest posts."""

    def __init__(self, people: Sequence[int]) -> None:
        self.people = people
        self._posts: deque[PostId] = deque(maxlen=200)

    def draw(self, rng: random.Random) -> Act:
        name = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        one, other = rng.sample(self.people, 2)
        return Act(name, one, partial(getattr(self, f"_{name}"), one, other))

    def known_posts(self) -> list[PostId]:
        """A few, so that the same accounts come back to them."""
        return list(self._posts)[:10]

    def _follow(self, one: int, other: int) -> None:
        with suppress(CannotFollowBlocked):
            follow(one, other)

    def _follow_quietly(self, one: int, other: int) -> None:
        with suppress(CannotFollowBlocked):
            follow(one, other, FollowOptions(quiet=True))

    def _unfollow(self, one: int, other: int) -> None:
        unfollow(one, other)

    def _remove_follower(self, one: int, other: int) -> None:
        remove_follower(one, other)

    def _block(self, one: int, other: int) -> None:
        block(one, other)

    def _unblock(self, one: int, other: int) -> None:
        unblock(one, other)

    def _publish(self, one: int, _: int) -> None:
        self._posts.append(publish(one))

    def _delete(self, *_: int) -> None:
        with suppress(IndexError, PostNotFound):
            delete_post(self._posts.popleft())

    def _favourite(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            mark_post(one, post, Kind.FAVOURITE, True)

    def _unfavourite(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            mark_post(one, post, Kind.FAVOURITE, False)

    def _repost(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            repost(one, post)

    def _take_back(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            undo_repost(one, post)

    def _some_posts(self, one: int) -> list[PostId]:
        """One post, if there is any."""
        posts = self.known_posts()
        return [posts[one % len(posts)]] if posts else []
