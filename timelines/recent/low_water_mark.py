"""Low-water marks of the recent-posts index: the second from which on a shard's rows are complete.

A shard has one mark, or none, and then the posts tables answer:

    OF_ALL     rows of all accounts: what pages of RECENT_INDEX=replicated read
    OF_OWN     rows of the shard's own accounts: a worker of `by_author` writes no others
    ENDING     as OF_OWN, and workers of `by_author` must not write before they have asked all

A worker of `by_author` writes only where it finds OF_OWN, and no shard has OF_OWN before every
shard has lost OF_ALL. So no page takes an index for complete that gets only a part of the posts,
even if processes have different settings.
"""

from functools import partial

from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import execute, fetch_one
from posts.ids import EPOCH

OF_ALL, OF_OWN, ENDING = 1, 2, 3
# Without a mark only posts that are published later are certain to be indexed. Their second is that
# of a web process, whose clock may be behind.
FUTURE_S = 60
FUTURE = f"(extract(epoch FROM clock_timestamp())::bigint - {EPOCH - FUTURE_S})"
FIND = f"SELECT complete_from FROM timelines_lowwatermark WHERE id = {OF_ALL}"  # noqa: S608
FIND_OWN = "SELECT min(complete_from) FROM timelines_lowwatermark"
HAS_OWN = f"SELECT 1 FROM timelines_lowwatermark WHERE id = {OF_OWN}"  # noqa: S608
LOWER = f"""
INSERT INTO timelines_lowwatermark (id, complete_from)
SELECT {OF_ALL}, %s WHERE NOT EXISTS ({HAS_OWN})
ON CONFLICT (id) DO UPDATE SET complete_from = LEAST(
    timelines_lowwatermark.complete_from, EXCLUDED.complete_from)
"""
LOWER_OWN = f"""
UPDATE timelines_lowwatermark SET complete_from = %s WHERE id = {OF_OWN} AND complete_from > %s
"""  # noqa: S608
RAISE = "UPDATE timelines_lowwatermark SET complete_from = %s WHERE complete_from < %s"
RAISE_OWN = f"UPDATE timelines_lowwatermark SET complete_from = {FUTURE} WHERE id = {OF_OWN}"  # noqa: S608
END_ALL = f"""
WITH gone AS (DELETE FROM timelines_lowwatermark WHERE id = {OF_ALL} RETURNING complete_from)
INSERT INTO timelines_lowwatermark (id, complete_from)
SELECT {ENDING}, COALESCE((SELECT complete_from FROM gone), {FUTURE})
WHERE NOT EXISTS (SELECT 1 FROM timelines_lowwatermark WHERE id <> {OF_ALL})
ON CONFLICT DO NOTHING
"""  # noqa: S608
BEGIN_OWN = f"""
WITH gone AS (DELETE FROM timelines_lowwatermark WHERE id <> {OF_OWN} RETURNING complete_from)
INSERT INTO timelines_lowwatermark (id, complete_from)
SELECT {OF_OWN}, COALESCE((SELECT min(complete_from) FROM gone), {FUTURE})
ON CONFLICT DO NOTHING
"""  # noqa: S608
END_OWN = f"""
WITH gone AS (DELETE FROM timelines_lowwatermark WHERE id = {OF_OWN} RETURNING complete_from)
INSERT INTO timelines_lowwatermark (id, complete_from) SELECT {ENDING}, complete_from FROM gone
ON CONFLICT DO NOTHING
"""  # noqa: S608


def find_low_water_mark(alias: str) -> int | None:
    """The mark OF_ALL, in seconds since the product's epoch. One query."""
    row = fetch_one(alias, FIND)
    return None if row is None else int(row[0])


def find_own_mark(alias: str) -> int | None:
    """The second from which on the shard has the posts of its own accounts. One query."""
    row = fetch_one(alias, FIND_OWN)
    return None if row is None or row[0] is None else int(row[0])


def has_own_only(alias: str) -> bool:
    """Whether workers of `by_author` write to this shard. One query."""
    return fetch_one(alias, HAS_OWN) is not None


def lower_low_water_mark(alias: str, complete_from: int) -> None:
    """Sets the mark OF_ALL to this second, unless it is lower: the index must be complete from
    there. Sets none while workers of `by_author` write."""
    execute(alias, LOWER, (complete_from,))


def lower_own_mark(alias: str, complete_from: int) -> None:
    """Lowers the mark OF_OWN to this second."""
    execute(alias, LOWER_OWN, (complete_from, complete_from))


def raise_low_water_mark(alias: str, complete_from: int) -> None:
    """Raises the mark to this second, so that earlier rows may be dropped."""
    execute(alias, RAISE, (complete_from, complete_from))


def delete_low_water_mark(alias: str) -> None:
    """Makes the index unreadable for pages of `replicated`."""
    execute(alias, f"DELETE FROM timelines_lowwatermark WHERE id = {OF_ALL}")  # noqa: S608


def distrust_own_rows(alias: str) -> None:
    """The posts tables answer for what is older than now, until `lower_own_mark`."""
    execute(alias, RAISE_OWN)


def begin_own_only() -> None:
    """From now on workers of `by_author` may write: no shard is read as an index of all accounts.

    Raises: OperationalError, InterfaceError when one shard does not answer. Safety: idempotent.
    Cost: two statements a shard, in parallel.
    """
    for sql in (END_ALL, BEGIN_OWN):
        _everywhere(sql)


def end_own_only() -> None:
    """Workers of `by_author` that still run ask all shards again before they write.

    Raises and costs as `begin_own_only`, half as much.
    """
    _everywhere(END_OWN)


def _everywhere(sql: str) -> None:
    scatter({alias: partial(execute, alias, sql) for alias in shard_aliases()})
