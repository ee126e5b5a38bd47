"""Account lists and their members, from the owner's shard. Only the owner reads them, uncached.

A member is on a list while one certain follow lasts: the follow that began at the member row's
`since_ms`. So the end of a follow takes the followee off all lists at once, and a new follow does
not put them back. The next write to a list deletes the member rows of ended follows
(relations/lists/actions/members.py).
"""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from relations.lists.errors import ListNotFound
from relations.lists.types import ListDescription, ListMembers, ListSummary, RepliesPolicy
from relations.queries.edge_rows import FORWARD, EdgeRows

# The most members that are named with a list.
SAMPLE = 3
# Joins a member row to the forward edge of the follow that it depends on.
MEMBER_FOLLOW = f"""
    {FORWARD.table}.follower_id = lists_listmember.owner_id
    AND {FORWARD.table}.followee_id = lists_listmember.account_id
    AND {FORWARD.table}.since_ms = lists_listmember.since_ms AND {FORWARD.live}"""
COLUMNS = "list_id, title, replies_policy, exclusive"
READ = f"""
SELECT {COLUMNS} FROM lists_accountlist WHERE owner_id = %s AND list_id = %s
"""  # noqa: S608
READ_ALL = f"""
SELECT {COLUMNS} FROM lists_accountlist WHERE owner_id = %s ORDER BY list_id
"""  # noqa: S608
# How many members each list has, and the newest of them.
READ_ALL_WITH_MEMBERS = f"""
SELECT {COLUMNS}, members_count, newest FROM lists_accountlist AS list
CROSS JOIN LATERAL (
    SELECT count(*) AS members_count,
        (array_agg(account_id ORDER BY {FORWARD.table}.since_ms DESC, account_id))[1:%s] AS newest
    FROM lists_listmember JOIN {FORWARD.table} ON {MEMBER_FOLLOW}
    WHERE lists_listmember.owner_id = list.owner_id
        AND lists_listmember.list_id = list.list_id
) AS members
WHERE owner_id = %s ORDER BY list_id
"""  # noqa: S608
WITH_ACCOUNT = f"""
SELECT {COLUMNS} FROM lists_accountlist
JOIN lists_listmember USING (owner_id, list_id) JOIN {FORWARD.table} ON {MEMBER_FOLLOW}
WHERE owner_id = %s AND account_id = %s ORDER BY list_id
"""  # noqa: S608
MEMBERS = f"""
SELECT replies_policy, ARRAY(
    SELECT account_id FROM lists_listmember JOIN {FORWARD.table} ON {MEMBER_FOLLOW}
    WHERE lists_listmember.owner_id = list.owner_id
        AND lists_listmember.list_id = list.list_id
)
FROM lists_accountlist AS list WHERE owner_id = %s AND list_id = %s
"""  # noqa: S608


def list_account_lists(owner_id: int) -> list[ListDescription]:
    """All lists of an account, the oldest first. One query."""
    return [describe(*row) for row in fetch_all(shard_of(owner_id), READ_ALL, [owner_id])]


def list_account_lists_and_members(owner_id: int) -> list[ListSummary]:
    """As `list_account_lists`, with the newest SAMPLE members of each. One query, by keys."""
    rows = fetch_all(shard_of(owner_id), READ_ALL_WITH_MEMBERS, (SAMPLE, owner_id))
    return [ListSummary(describe(*row[:4]), row[4], row[5] or ()) for row in rows]


def list_account_lists_with(owner_id: int, account_id: int) -> list[ListDescription]:
    """The owner's lists that have this member, the oldest first. One query."""
    rows = fetch_all(shard_of(owner_id), WITH_ACCOUNT, (owner_id, account_id))
    return [describe(*row) for row in rows]


def get_account_list(owner_id: int, list_id: int) -> ListDescription:
    """Raises ListNotFound. One query by key."""
    row = fetch_one(shard_of(owner_id), READ, (owner_id, list_id))
    if row is None:
        raise ListNotFound
    return describe(*row)


def get_list_members(owner_id: int, list_id: int) -> ListMembers:
    """All members of a list, unordered. Raises ListNotFound. One query by keys."""
    row = fetch_one(shard_of(owner_id), MEMBERS, (owner_id, list_id))
    if row is None:
        raise ListNotFound
    return ListMembers(row[1], RepliesPolicy(row[0]))


def member_rows(list_id: int) -> EdgeRows:
    """The owner's follows of the members of a list, to page through as any edge list."""
    is_on = f"lists_listmember.list_id = {list_id:d} AND {MEMBER_FOLLOW}"
    return FORWARD._replace(
        live=f"{FORWARD.live} AND EXISTS (SELECT 1 FROM lists_listmember WHERE {is_on})"  # noqa: S608
    )


def describe(list_id: int, title: str, replies_policy: int, exclusive: bool) -> ListDescription:
    """From COLUMNS."""
    return ListDescription(list_id, title, RepliesPolicy(replies_policy), exclusive)
