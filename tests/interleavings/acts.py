"""What actors of several histories do, and the world that they find."""

from collections.abc import Callable

from infra.caching.client import redis
from infra.changes.compensate import drain
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from relations.actions.follow import follow
from tests.integration.timelines.homes import first_page
from tests.interleavings.actors import current_actor
from tests.world import drain_all, make_accounts


def drain_lanes_of(*people: int) -> None:
    """As a drainer does for the ordinary lanes of these accounts."""
    for person in people:
        drain(shard_of(person), lane_of(person))


def share_lane(one: int, other: int) -> bool:
    """Whether one drain delivers the changes of both accounts."""
    return (shard_of(one), lane_of(one)) == (shard_of(other), lane_of(other))


def evict(*families: str) -> Callable[[], None]:
    """As Redis does when its memory is full."""

    def run() -> None:
        for family in families:
            for name in redis().call("KEYS", f"{family}*"):
                redis().call("DEL", name)

    return run


def flush() -> None:
    redis().call("FLUSHDB")


def in_order(*calls: Callable[[], object]) -> Callable[[], None]:
    """One actor that makes these calls."""

    def run() -> None:
        for call in calls:
            call()

    return run


def slow_at(failpoint: str, call: Callable[[], object]) -> Callable[[], None]:
    """The actor of this call lets all others go first when it comes to the failpoint."""

    def run() -> None:
        actor = current_actor()
        assert actor is not None
        actor.slow_at = failpoint
        call()

    return run


def make_friends(count: int = 2) -> list[int]:
    """Accounts, the first of which follows the others and has a live home timeline."""
    me, *friends = make_accounts(count)
    for friend in friends:
        follow(me, friend)
    drain_all()
    first_page(me)
    return [me, *friends]
