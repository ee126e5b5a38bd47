"""Relationships from the cache and from the rows, and all writes that change them."""

from collections.abc import Callable, Iterator
from functools import partial

from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.actions.mute import mute, unmute
from relations.queries import relationships as source
from relations.queries.relationships import load_relationships
from relations.types import FollowOptions, Relationship
from tests.world import drain_all


def relationship(viewer: int, other: int) -> Relationship:
    return load_relationships(viewer, [other])[other]


def assert_as_the_rows(*people: int) -> None:
    for viewer in people:
        assert load_relationships(viewer, people) == source._read(viewer, people), viewer


def writes(me: int, other: int) -> Iterator[Callable[[], object]]:
    """In this order each write changes something."""
    yield partial(follow, me, other)
    yield partial(follow, me, other, FollowOptions(quiet=True))
    yield partial(follow, me, other, FollowOptions(special=True, reposts=False))
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
