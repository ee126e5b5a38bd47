"""Values of account lists."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class RepliesPolicy(IntEnum):
    """Which replies of members a list shows, besides replies to the owner and to themselves.

    Stored as a number; the API uses the name in lower case.
    """

    LIST = 0  # replies to members
    FOLLOWED = 1  # replies to accounts that the owner follows
    NONE = 2


class ListDescription(NamedTuple):
    """One list, without its members. `list_id` is unique for the owner and never used again.

    `exclusive`: what its members post is on the list only, and not at home.
    """

    list_id: int
    title: str
    replies_policy: RepliesPolicy
    exclusive: bool = False


class ListOptions(NamedTuple):
    """Options of a new or changed list. None: keep the value, or use the default."""

    title: str | None = None
    replies_policy: RepliesPolicy | None = None
    exclusive: bool | None = None


class ListMembers(NamedTuple):
    """The members of a list, and which of their replies it shows."""

    account_ids: Sequence[int]
    replies_policy: RepliesPolicy


class ListSummary(NamedTuple):
    """A list with how many members it has, and the newest of them."""

    description: ListDescription
    members_count: int
    sample_ids: Sequence[int]
