"""All followers of an account, page by page, for fan-out."""

from collections.abc import Iterator

from relations.queries.rows import BACKWARD, read_newest

FOLLOWERS_A_PAGE = 5_000


def iter_followers(account_id: int) -> Iterator[list[int]]:
    """Follower ids, newest first, FOLLOWERS_A_PAGE at a time, from the account's shard by key."""
    last = None
    while followers := read_newest(BACKWARD, account_id, last, None, FOLLOWERS_A_PAGE):
        yield [listed.account_id for listed in followers]
        if len(followers) < FOLLOWERS_A_PAGE:
            return
        last = followers[-1]
