"""Rosters as the owner's shard has them. Only the owner reads them: nothing here is cached.

A member is on a roster for as long as the follow lasts under which they were put there: the follow
that began at the row's `since_ms`. So whatever ends a follow takes them off all rosters in the same
moment, and a new follow does not bring them back. Rows of follows that ended go with the next
writing (relations/rosters/actions/members.py).
"""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from relations.queries.rows import FORWARD, Rows
from relations.rosters.errors import RosterNotFound
from relations.rosters.types import Members, RepliesPolicy, Roster

# Of a member and a forward edge: whether this is the follow they are on the roster by.
HELD = f"""
    relations_forwardedge.follower_id = rosters_member.owner_id
    AND relations_forwardedge.followee_id = rosters_member.account_id
    AND relations_forwardedge.since_ms = rosters_member.since_ms AND {FORWARD.live}"""
READ = """
SELECT roster_id, title, replies_policy FROM rosters_roster WHERE owner_id = %s AND roster_id = %s
"""
READ_ALL = """
SELECT roster_id, title, replies_policy FROM rosters_roster WHERE owner_id = %s ORDER BY roster_id
"""
WITH_ACCOUNT = f"""
SELECT roster_id, title, replies_policy FROM rosters_roster
JOIN rosters_member USING (owner_id, roster_id) JOIN relations_forwardedge ON {HELD}
WHERE owner_id = %s AND account_id = %s ORDER BY roster_id
"""  # noqa: S608
MEMBERS = f"""
SELECT replies_policy, ARRAY(
    SELECT account_id FROM rosters_member JOIN relations_forwardedge ON {HELD}
    WHERE rosters_member.owner_id = roster.owner_id
        AND rosters_member.roster_id = roster.roster_id
)
FROM rosters_roster AS roster WHERE owner_id = %s AND roster_id = %s
"""  # noqa: S608


def list_rosters(owner_id: int) -> list[Roster]:
    """All rosters of an account, the oldest first. One query."""
    return [_roster(*row) for row in fetch_all(shard_of(owner_id), READ_ALL, [owner_id])]


def list_rosters_with(owner_id: int, account_id: int) -> list[Roster]:
    """Those of an account's rosters that another is on, the oldest first. One query."""
    rows = fetch_all(shard_of(owner_id), WITH_ACCOUNT, (owner_id, account_id))
    return [_roster(*row) for row in rows]


def get_roster(owner_id: int, roster_id: int) -> Roster:
    """Raises RosterNotFound. One query by key."""
    row = fetch_one(shard_of(owner_id), READ, (owner_id, roster_id))
    if row is None:
        raise RosterNotFound
    return _roster(*row)


def get_members(owner_id: int, roster_id: int) -> Members:
    """Everybody on a roster, in no order. Raises RosterNotFound. One query by keys."""
    row = fetch_one(shard_of(owner_id), MEMBERS, (owner_id, roster_id))
    if row is None:
        raise RosterNotFound
    return Members(row[1], RepliesPolicy(row[0]))


def member_rows(roster_id: int) -> Rows:
    """The follows of an owner whose followees are on a roster: a list like any of relations."""
    is_on = f"rosters_member.roster_id = {roster_id:d} AND {HELD}"
    return FORWARD._replace(
        live=f"{FORWARD.live} AND EXISTS (SELECT 1 FROM rosters_member WHERE {is_on})"  # noqa: S608
    )


def _roster(roster_id: int, title: str, replies_policy: int) -> Roster:
    return Roster(roster_id, title, RepliesPolicy(replies_policy))
