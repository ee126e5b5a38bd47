"""The values of the counting service."""

from typing import NamedTuple

from counters.kinds import CounterKind

ACCOUNT = 0  # the subject of counts of the owner itself


class CountMove(NamedTuple):
    """Adds `delta` to a count. Zero only raises the version: the list changed, its size did not."""

    owner_id: int
    kind: CounterKind
    delta: int
    subject: int = ACCOUNT


class Count(NamedTuple):
    """A count and its version."""

    value: int
    version: int


class AccountCounts(NamedTuple):
    """The counts shown with every account. The quiet counts are part of the others, and private.

    `newest_post_day`: in days since 1970, without direct posts; 0 for no post.
    """

    followers: int
    following: int
    posts: int
    quiet_followers: int
    quiet_following: int
    newest_post_day: int
