"""Every kind of count. A new one is a line here, and its rows in `counter_rows.py` of its app."""

from enum import IntEnum


class CounterKind(IntEnum):
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
