"""Values of rosters, which Mastodon's API calls lists."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class RepliesPolicy(IntEnum):
    """To whom members' replies are shown, beside those to the owner and to themselves.

    Stored as a number; the API says the name in lower case.
    """

    LIST = 0  # to members
    FOLLOWED = 1  # to everybody the owner follows
    NONE = 2


class Roster(NamedTuple):
    """A roster as its owner sees it. `roster_id`: unique among one owner's, never given again."""

    roster_id: int
    title: str
    replies_policy: RepliesPolicy


class RosterWish(NamedTuple):
    """What a roster shall be like; None leaves it as it is, or at its default."""

    title: str | None = None
    replies_policy: RepliesPolicy | None = None


class Members(NamedTuple):
    """Who is on a roster now, and which replies of theirs are shown."""

    account_ids: Sequence[int]
    replies_policy: RepliesPolicy
