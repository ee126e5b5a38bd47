"""Values of the counting service."""

from typing import NamedTuple

from counters.kinds import CounterKind

ACCOUNT = 0  # the subject that is the owner itself


class CountMove(NamedTuple):
    """A count to be moved by `delta`; zero marks a change of the list that left its size."""

    owner_id: int
    kind: CounterKind
    delta: int
    subject: int = ACCOUNT


class Count(NamedTuple):
    """A count and its version."""

    value: int
    version: int


class AccountCounts(NamedTuple):
    """What is shown with every account. The quiet ones are part of the others, and secret."""

    followers: int
    following: int
    posts: int
    quiet_followers: int
    quiet_following: int
