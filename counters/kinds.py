"""Every kind of count. A new one is a line here, and its rows in `counter_rows.py` of its app."""

from enum import IntEnum
from typing import Self

# Reactions that services declared. A reaction has one number here and in posts.types.Kind.
DECLARED = range(32, 48)


class DeclaredKinds(IntEnum):
    """Base of enums whose members are their own lines, and a member for each number in DECLARED.

    Those are made when they are looked up: what they are called is up to services.
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, int) or value not in DECLARED:
            return None
        member = int.__new__(cls, value)
        member._name_, member._value_ = f"REACTION_{value}", value
        return cls._value2member_map_.setdefault(value, member)  # type: ignore[return-value]


class CounterKind(DeclaredKinds):
    """Stored as a number. Numbers are never reused."""

    FOLLOWERS = 1
    FOLLOWING = 2
    POSTS = 3
    QUIET_FOLLOWERS = 4  # of FOLLOWERS
    QUIET_FOLLOWING = 5  # of FOLLOWING
    BLOCKED = 6
    SENT_REQUESTS = 7  # follow requests of the account that await approval
    FOLLOW_REQUESTS = 8  # follow requests to the account that await its approval
    FILTERS = 9  # of posts, that the account made
    VIEWER_MARKS = 10  # the favourites and bookmarks of an account
    # Counts of a post: the owner is its author, the subject its moment.
    REPLIES = 11
    REPOSTS = 12
    FAVOURITES = 13
    # Not a number of rows: the day of the account's newest post, in days since 1970; 0 for none.
    NEWEST_POST_DAY = 14
    QUOTES = 15  # of a post


# The counts shown with every account, in this order; cached as one entry.
ACCOUNT_KINDS = (
    CounterKind.FOLLOWERS,
    CounterKind.FOLLOWING,
    CounterKind.POSTS,
    CounterKind.QUIET_FOLLOWERS,
    CounterKind.QUIET_FOLLOWING,
    CounterKind.NEWEST_POST_DAY,
)

# The counts shown with every post, in this order; cached as one entry.
POST_KINDS = (
    CounterKind.REPLIES,
    CounterKind.REPOSTS,
    CounterKind.FAVOURITES,
    CounterKind.QUOTES,
)
# Counts of the other reactions. The entry of a post has those that are above zero.
REACTION_KINDS = tuple(CounterKind(number) for number in DECLARED)
