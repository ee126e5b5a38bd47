"""The viewer of posts: asked for once, then known to the process until something changes."""

from collections.abc import Callable

import pytest

from infra.caching.client import redis
from infra.caching.questions import RoundTrip
from infra.caching.viewer_validators import ViewerField, drop_validator_commands
from posts.actions.mark_post import mark_post
from posts.queries.viewer import KnownViewer, PostViewer
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.world import drain_all, make_accounts, publish, rest


class Town:
    """A reader who follows an author, and a post of the author."""

    def __init__(self) -> None:
        self.me, self.author, self.other = make_accounts(3)
        follow(self.me, self.author)
        self.post = publish(self.author)
        drain_all()
        rest()

    def ask(self) -> tuple[int, KnownViewer]:
        """The number of commands in the first round trip, and the viewer."""
        trip = RoundTrip()
        viewer = PostViewer(trip, self.me, [self.author, self.other])
        commands = sum(len(question.commands()) for question in trip._questions)
        trip.run()
        return commands, viewer.value


@pytest.fixture
def town(world: None) -> Town:
    town = Town()
    for _ in range(2):  # the second one has the filter of all related accounts
        town.ask()
    return town


def test_a_known_viewer_costs_one_command(town: Town) -> None:
    with count_calls() as calls:
        commands, viewer = town.ask()
    assert (commands, calls.round_trips, calls.sql.total()) == (1, 1, 0)
    assert viewer.relationships[town.author].is_followed
    assert not viewer.relationships[town.other].is_followed


CHANGES: dict[str, Callable[[Town], object]] = {
    "a favourite": lambda town: mark_post(town.me, town.post, Kind.FAVOURITE, True),
    "a block": lambda town: block(town.me, town.author),
    "a block by the author": lambda town: block(town.author, town.me),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows_and_costs_one_more_round_trip(town: Town, change: str) -> None:
    CHANGES[change](town)
    drain_all()
    rest()
    with count_calls() as calls:
        _, viewer = town.ask()
    is_marked = change == "a favourite"
    # A changed relationship is not in Redis either.
    assert calls.round_trips <= (2 if is_marked else 4)
    assert (viewer.state.flags == {town.post: 1 << Kind.FAVOURITE}) is is_marked
    assert viewer.relationships[town.author].is_blocked is not is_marked


def test_without_its_validators_the_viewer_is_asked_for_again(town: Town) -> None:
    _, before = town.ask()
    for field in (ViewerField.STATE, ViewerField.RELATIONSHIPS):
        redis().run(drop_validator_commands([town.me], field))
    with count_calls() as calls:
        _, after = town.ask()
    assert after == before
    assert calls.sql.total() == 0
    assert calls.round_trips <= 4


def test_a_viewer_who_wrote_lately_is_said_to_have(town: Town) -> None:
    assert not town.ask()[1].state.wrote_lately
    publish(town.me)
    assert town.ask()[1].state.wrote_lately


def test_a_guest_has_neither_flags_nor_relationships(world: None) -> None:
    trip = RoundTrip()
    guest = PostViewer(trip, None, [1, 2])
    with count_calls() as calls:
        trip.run()
        assert guest.value == KnownViewer(None)
    assert calls.round_trips == 0
