"""Accounts that follow each other with one account. Both edges of a pair are on its shard."""

from collections.abc import Sequence

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.queries.edge_lists import ListReads
from relations.sql import BACKWARD_TABLE, FORWARD_TABLE, KIND
from relations.types import Attribute, ListedAccount

_FOLLOWS = f"({Attribute.FOLLOW:d}, {Attribute.WHISPER:d})"
READ = f"""
SELECT greatest(mine.since_ms, theirs.since_ms) AS since_ms, mine.followee_id
FROM {FORWARD_TABLE} AS mine
JOIN {BACKWARD_TABLE} AS theirs
    ON theirs.followee_id = mine.follower_id AND theirs.follower_id = mine.followee_id
WHERE mine.follower_id = %s AND mine.kind = {KIND} AND mine.attribute IN {_FOLLOWS}
    AND theirs.kind = {KIND} AND theirs.attribute IN {_FOLLOWS}
ORDER BY 1 DESC, 2 DESC
"""  # noqa: S608


def read_mutuals(account_id: int) -> list[ListedAccount]:
    """All of them, newest first, quiet follows included. `since_ms`: since both follow.

    Cost: one query, which reads the follows of the account, at most FOLLOW_CAP, and the row of each
    one's edge back by its key.
    """
    rows = fetch_all(shard_of(account_id), READ, (account_id,))
    return [ListedAccount(*row) for row in rows]


def reads_within(members: Sequence[ListedAccount]) -> ListReads:
    """The reads of a page out of a whole list, which is newest first."""

    def newest(below: ListedAccount | None, limit: int) -> list[ListedAccount]:
        return [member for member in members if below is None or member < below][:limit]

    def above(bound: ListedAccount, limit: int) -> list[ListedAccount]:
        newer = [member for member in members if member > bound]
        return newer[max(0, len(newer) - limit) :]

    return ListReads(newest, above)
