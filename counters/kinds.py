"""Every kind of count there is. A new count is one line here."""

from enum import IntEnum


class CounterKind(IntEnum):
    """Stored as a number; numbers are never reused."""

    FOLLOWERS = 1
    FOLLOWING = 2
    POSTS = 3


# Shown together wherever an account is shown, in this order; cached as one entry.
ACCOUNT_KINDS = (CounterKind.FOLLOWERS, CounterKind.FOLLOWING, CounterKind.POSTS)
