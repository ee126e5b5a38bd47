"""Approves the follow requests of accounts that are not locked any more, as Mastodon does."""

from collections.abc import Iterable
from contextlib import suppress

from django.db import OperationalError

from accounts.errors import AccountNotFound
from accounts.sql import UNLOCKED_ACCOUNT_IDS
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.actions.follow import approve_request
from relations.actions.mirror import mirror_now
from relations.errors import FollowRequestNotFound
from relations.queries.edge_rows import BACKWARD_REQUESTS, read_newest
from relations.queries.edges import Pair, get_edge
from relations.types import ListedAccount

MOST_AT_ONCE = 100


class BlockNotMirrored(OperationalError):
    """The followee may have blocked the requester a moment ago. Approve again later."""


def find_unlocked(alias: str, account_ids: Iterable[int]) -> set[int]:
    """Those of the accounts, all of one shard, that need not approve followers. One query."""
    return {row[0] for row in fetch_all(alias, UNLOCKED_ACCOUNT_IDS, (list(account_ids),))}


def approve_page(followee_id: int, below: ListedAccount | None) -> ListedAccount | None:
    """Approves a page of the requests to an account: the newest ones, or those below this one.

    Returns the last of them if there may be more. Raises: as `approve_requests`. Safety:
    idempotent. Cost: one index-only scan, and as `approve_requests`.
    """
    rows = read_newest(BACKWARD_REQUESTS, followee_id, below, None, MOST_AT_ONCE)
    approve_requests((row.account_id, followee_id) for row in rows)
    return rows[-1] if len(rows) == MOST_AT_ONCE else None


def approve_requests(requests: Iterable[Pair]) -> None:
    """Approves these requests, by follower and followee. Those that ended are left out.

    A block that is not mirrored yet ends a request first. Raises: BlockNotMirrored. Safety:
    idempotent. Cost: two queries, and as `approve_request`, for each.
    """
    for follower_id, followee_id in requests:
        if not get_edge(shard_of(follower_id), follower_id, followee_id).is_request:
            continue  # it has ended, and the followee's shard will know it
        if not mirror_now(followee_id, follower_id):
            raise BlockNotMirrored
        with suppress(FollowRequestNotFound, AccountNotFound):
            approve_request(followee_id, follower_id)
        failpoint("relations.request_approved")
