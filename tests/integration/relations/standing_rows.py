"""What lies between people, asked of the caches and of the rows, and all that changes it."""

from collections.abc import Callable, Iterator
from functools import partial

from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.actions.mute import mute, unmute
from relations.queries import standings as source
from relations.queries.standings import load_standings
from relations.types import FollowWish, Standing
from tests.world import drain_all


def standing(viewer: int, other: int) -> Standing:
    return load_standings(viewer, [other])[other]


def assert_as_the_rows(*people: int) -> None:
    for viewer in people:
        assert load_standings(viewer, people) == source._read(viewer, people), viewer


def acts(me: int, other: int) -> Iterator[Callable[[], object]]:
    """In this order each has something to change."""
    yield partial(follow, me, other)
    yield partial(follow, me, other, FollowWish(quiet=True))
    yield partial(follow, me, other, FollowWish(special=True, reposts=False))
    yield partial(mute, me, other)
    yield partial(unmute, me, other)
    yield partial(unfollow, me, other)
    yield partial(block, me, other)
    yield partial(unblock, me, other)
    yield partial(follow, other, me)
    yield drain_all
    yield partial(remove_follower, me, other)
    yield partial(block, other, me)
    yield partial(unblock, other, me)
