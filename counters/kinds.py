"""Every kind of count there is. A new count is one line here."""

from enum import IntEnum


class CounterKind(IntEnum):
    """Stored as a number; numbers are never reused."""

    FOLLOWERS = 1
    FOLLOWING = 2
    POSTS = 3
    QUIET_FOLLOWERS = 4  # of FOLLOWERS
    QUIET_FOLLOWING = 5  # of FOLLOWING
    BLOCKED = 6
    VIEWER_MARKS = 10  # favourites and bookmarks an account has left on posts
    # Of a post: the subject is its moment, the owner its author.
    REPLIES = 11
    REPOSTS = 12
    FAVOURITES = 13


# What is needed to show an account, to others and to itself, in this order; cached as one entry.
ACCOUNT_KINDS = (
    CounterKind.FOLLOWERS,
    CounterKind.FOLLOWING,
    CounterKind.POSTS,
    CounterKind.QUIET_FOLLOWERS,
    CounterKind.QUIET_FOLLOWING,
)

# What is shown with every post, in this order; cached as one entry.
POST_KINDS = (CounterKind.REPLIES, CounterKind.REPOSTS, CounterKind.FAVOURITES)
