"""Followers of an account for fan-out, from the account's shard, newest first."""

from collections.abc import Iterable, Iterator, Sequence

from infra.changes.batch_rows import note_rows, read_once
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.queries.edge_rows import BACKWARD, BACKWARD_NOTIFIED, read_newest
from relations.types import ListedAccount

FOLLOWERS_A_PAGE = 5_000

# The last of every %(every)s followers. The shard counts the rows, so they are not transferred.
BOUNDS = f"""
SELECT since_ms, follower_id FROM (
    SELECT since_ms, follower_id,
        row_number() OVER (ORDER BY since_ms DESC, follower_id DESC) AS position
    FROM {BACKWARD.table}
    WHERE followee_id = %(account_id)s AND {BACKWARD.live}
        AND (%(below)s::bigint IS NULL OR (since_ms, follower_id) < (%(below)s, %(below_id)s))
    ORDER BY since_ms DESC, follower_id DESC LIMIT %(most)s
) AS counted WHERE mod(position, %(every)s) = 0 ORDER BY position
"""  # noqa: S608
_HAS_NOTIFIED = f"""
EXISTS (
    SELECT FROM {BACKWARD_NOTIFIED.table}
    WHERE followee_id = wanted.id AND {BACKWARD_NOTIFIED.live}
)"""
NEWEST = f"""
SELECT wanted.id, ARRAY(
    SELECT follower_id FROM {BACKWARD.table} WHERE followee_id = wanted.id AND {BACKWARD.live}
    ORDER BY since_ms DESC, follower_id DESC LIMIT %s
), {_HAS_NOTIFIED} FROM unnest(%s::bigint[]) AS wanted (id)
"""  # noqa: S608
HAVE_NOTIFIED = f"SELECT id, {_HAS_NOTIFIED} FROM unnest(%s::bigint[]) AS wanted (id)"  # noqa: S608
NOTIFIED = f"""
SELECT wanted.id, since_ms, follower_id FROM unnest(%s::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT since_ms, follower_id FROM {BACKWARD_NOTIFIED.table}
    WHERE followee_id = wanted.id AND {BACKWARD_NOTIFIED.live}
    ORDER BY since_ms DESC, follower_id DESC LIMIT %s
) AS newest ORDER BY since_ms DESC, follower_id DESC
"""  # noqa: S608


def load_notified_followers(
    alias: str, account_ids: Sequence[int], limit: int
) -> dict[int, list[ListedAccount]]:
    """At most `limit` followers of each account of one shard that asked to be notified of posts.

    Shape: newest first; accounts without such followers are absent. Cost: one query with an
    index-only scan for each account.
    """
    newest: dict[int, list[ListedAccount]] = {}
    for account_id, *listed in fetch_all(alias, NOTIFIED, ([*account_ids], limit)):
        newest.setdefault(account_id, []).append(ListedAccount(*listed))
    return newest


def list_notified_below(
    account_id: int, below: ListedAccount | None, limit: int
) -> list[ListedAccount]:
    """The newest `limit` of these followers older than `below`. One index-only scan."""
    return read_newest(BACKWARD_NOTIFIED, account_id, below, None, limit)


@read_once
def have_notified_followers(alias: str, account_ids: Iterable[int]) -> dict[int, bool]:
    """Whether followers of these accounts of one shard asked to be notified of posts.

    One query with an index probe for each account; none in a batch that has loaded their followers.
    """
    return dict(fetch_all(alias, HAVE_NOTIFIED, ([*account_ids],)))


def load_newest_followers(
    alias: str, account_ids: Sequence[int], limit: int
) -> dict[int, list[int]]:
    """At most `limit` follower ids of each of these accounts of one shard, newest first.

    Cost: one query with an index-only scan for each account.
    """
    rows = fetch_all(alias, NEWEST, (limit, [*account_ids]))
    note_rows(have_notified_followers, alias, {row[0]: row[2] for row in rows})
    return {row[0]: row[1] for row in rows}


def list_followers_below(
    account_id: int, below: ListedAccount | None, limit: int
) -> list[ListedAccount]:
    """The newest `limit` followers older than `below`. One index-only scan."""
    return list(read_newest(BACKWARD, account_id, below, None, limit))


def iter_followers(
    account_id: int, below: ListedAccount | None = None, last: ListedAccount | None = None
) -> Iterator[list[int]]:
    """Pages of follower ids, newest first: those older than `below`, down to `last` inclusive."""
    above = last and ListedAccount(last.since_ms, last.account_id - 1)
    while followers := read_newest(BACKWARD, account_id, below, above, FOLLOWERS_A_PAGE):
        yield [listed.account_id for listed in followers]
        if len(followers) < FOLLOWERS_A_PAGE:
            return
        below = followers[-1]


def list_bounds(
    account_id: int, below: ListedAccount | None, every: int, count: int
) -> list[ListedAccount]:
    """The last follower of each group of `every` followers older than `below`, at most `count`.

    Fewer than `count` means that less than `every` followers are older than the last bound.
    Cost: one index-only scan of `every * count` rows.
    """
    since_ms, follower_id = below or (None, None)
    span = {"account_id": account_id, "below": since_ms, "below_id": follower_id}
    rows = fetch_all(shard_of(account_id), BOUNDS, span | {"every": every, "most": every * count})
    return [ListedAccount(*row) for row in rows]
