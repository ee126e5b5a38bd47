"""lists as the owner's shard has them. Only the owner reads them: nothing here is cached.

A member is on a list for as long as the follow lasts under which they were put there: the follow
that began at the row's `since_ms`. So whatever ends a follow takes them off all lists in the same
moment, and a new follow does not bring them back. Rows of follows that ended go with the next
writing (relations/lists/actions/members.py).
"""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from relations.lists.errors import ListNotFound
from relations.lists.types import ListDescription, ListMembers, RepliesPolicy
from relations.queries.edge_rows import FORWARD, EdgeRows

# Of a member and a forward edge: whether this is the follow they are on the list by.
MEMBER_FOLLOW = f"""
    relations_forwardedge.follower_id = lists_listmember.owner_id
    AND relations_forwardedge.followee_id = lists_listmember.account_id
    AND relations_forwardedge.since_ms = lists_listmember.since_ms AND {FORWARD.live}"""
READ = """
SELECT list_id, title, replies_policy FROM lists_accountlist WHERE owner_id = %s AND list_id = %s
"""
READ_ALL = """
SELECT list_id, title, replies_policy FROM lists_accountlist WHERE owner_id = %s ORDER BY list_id
"""
WITH_ACCOUNT = f"""
SELECT list_id, title, replies_policy FROM lists_accountlist
JOIN lists_listmember USING (owner_id, list_id) JOIN relations_forwardedge ON {MEMBER_FOLLOW}
WHERE owner_id = %s AND account_id = %s ORDER BY list_id
"""  # noqa: S608
MEMBERS = f"""
SELECT replies_policy, ARRAY(
    SELECT account_id FROM lists_listmember JOIN relations_forwardedge ON {MEMBER_FOLLOW}
    WHERE lists_listmember.owner_id = list.owner_id
        AND lists_listmember.list_id = list.list_id
)
FROM lists_accountlist AS list WHERE owner_id = %s AND list_id = %s
"""  # noqa: S608


def list_account_lists(owner_id: int) -> list[ListDescription]:
    """All lists of an account, the oldest first. One query."""
    return [_list_description(*row) for row in fetch_all(shard_of(owner_id), READ_ALL, [owner_id])]


def list_account_lists_with(owner_id: int, account_id: int) -> list[ListDescription]:
    """Those of an account's lists that another is on, the oldest first. One query."""
    rows = fetch_all(shard_of(owner_id), WITH_ACCOUNT, (owner_id, account_id))
    return [_list_description(*row) for row in rows]


def get_account_list(owner_id: int, list_id: int) -> ListDescription:
    """Raises ListNotFound. One query by key."""
    row = fetch_one(shard_of(owner_id), READ, (owner_id, list_id))
    if row is None:
        raise ListNotFound
    return _list_description(*row)


def get_list_members(owner_id: int, list_id: int) -> ListMembers:
    """Everybody on a list, in no order. Raises ListNotFound. One query by keys."""
    row = fetch_one(shard_of(owner_id), MEMBERS, (owner_id, list_id))
    if row is None:
        raise ListNotFound
    return ListMembers(row[1], RepliesPolicy(row[0]))


def member_rows(list_id: int) -> EdgeRows:
    """The follows of an owner whose followees are on a list: a list like any of relations."""
    is_on = f"lists_listmember.list_id = {list_id:d} AND {MEMBER_FOLLOW}"
    return FORWARD._replace(
        live=f"{FORWARD.live} AND EXISTS (SELECT 1 FROM lists_listmember WHERE {is_on})"  # noqa: S608
    )


def _list_description(list_id: int, title: str, replies_policy: int) -> ListDescription:
    return ListDescription(list_id, title, RepliesPolicy(replies_policy))
