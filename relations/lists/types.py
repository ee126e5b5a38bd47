"""Values of lists, which Mastodon's API calls lists."""

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


class ListDescription(NamedTuple):
    """A list as its owner sees it. `list_id`: unique among one owner's, never given again."""

    list_id: int
    title: str
    replies_policy: RepliesPolicy


class ListOptions(NamedTuple):
    """What a list shall be like; None leaves it as it is, or at its default."""

    title: str | None = None
    replies_policy: RepliesPolicy | None = None


class ListMembers(NamedTuple):
    """Who is on a list now, and which replies of theirs are shown."""

    account_ids: Sequence[int]
    replies_policy: RepliesPolicy
