"""Rows of notifications of one owner, in the order of their ids.

Leaves out what happened in threads that the recipient has muted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from notifications.ids import MAX_ID
from notifications.types import (
    RESPONSE_OF,
    Measure,
    NotificationKind,
    NotificationRow,
    Occurrence,
    Policy,
    Selection,
)
from posts.ids import PostId
from posts.queries.reactions import list_known_reactions
from posts.queries.responses import find_live_responses
from posts.queries.threads import AccountAndThread, find_muted_threads, load_mutes_of_own

POLICY = ", ".join(f"inbox.{name}" for name in Policy._fields)
COLUMNS = f"""
    found.id, found.kind, found.from_id, found.post_author, found.post_moment, found.at_ms,
    EXISTS (
        SELECT FROM notifications_notificationpermission AS permission
        WHERE permission.owner_id = inbox.owner_id AND permission.from_id = found.from_id
    ), {POLICY}
"""
BOUNDS = """
    owner_id = inbox.owner_id AND is_on AND NOT is_dismissed
    AND id > greatest(%(above)s, inbox.cleared_id) AND id < %(below)s
"""
# The newest or oldest rows of each wanted kind, merged: index-only, however many rows there are.
OF_KINDS = f"""
SELECT {COLUMNS} FROM notifications_inbox AS inbox
CROSS JOIN unnest(%(kinds)s::smallint[]) AS wanted (kind)
CROSS JOIN LATERAL (
    SELECT * FROM notifications_notification
    WHERE kind = wanted.kind AND {BOUNDS} ORDER BY id {{order}} LIMIT %(limit)s
) AS found
WHERE inbox.owner_id = %(owner)s ORDER BY found.id {{order}} LIMIT %(limit)s
"""  # noqa: S608
# By the primary key: all rows of one account about the owner.
OF_ACCOUNT = f"""
SELECT {COLUMNS} FROM notifications_inbox AS inbox
CROSS JOIN LATERAL (
    SELECT * FROM notifications_notification
    WHERE from_id = %(from)s AND kind = ANY(%(kinds)s::smallint[]) AND {BOUNDS}
    ORDER BY id {{order}} LIMIT %(limit)s
) AS found
WHERE inbox.owner_id = %(owner)s ORDER BY found.id {{order}}
"""  # noqa: S608
# Some notifications by id, whose messages were not sent.
TO_PUSH = f"""
SELECT {COLUMNS} FROM notifications_inbox AS inbox
CROSS JOIN LATERAL (
    SELECT * FROM notifications_notification
    WHERE id = ANY(%(ids)s::bigint[]) AND is_to_push AND {BOUNDS}
) AS found
WHERE inbox.owner_id = %(owner)s ORDER BY found.id
"""  # noqa: S608
ORDERS = {True: "DESC", False: "ASC"}


class IdRange(NamedTuple):
    """Ids above one and below another, to be read in one of the two directions."""

    above: int = 0
    below: int = MAX_ID
    newest_first: bool = True

    def after(self, last_id: int) -> "IdRange":
        """The rest, when the rows up to this one were read."""
        if self.newest_first:
            return self._replace(below=last_id)
        return self._replace(above=last_id)


class ReadRows(NamedTuple):
    """Rows, and the owner's policy for them. `permitted`: accounts that no policy holds for.

    `undone`: ids of rows of what was taken back, for `view_notifications` (see `with_undone`).
    """

    rows: list[NotificationRow]
    policy: Policy
    permitted: frozenset[int]
    undone: frozenset[int] = frozenset()


def read_rows(owner_id: int, selection: Selection, ids: IdRange, limit: int) -> ReadRows:
    """The first `limit` rows of the range that were neither undone, dismissed nor cleared.

    One query. With an account selected it reads all rows of that account.
    """
    sql = OF_KINDS if selection.from_id is None else OF_ACCOUNT
    params = {
        "owner": owner_id, "kinds": stored_kinds(selection.kinds),
        "from": selection.from_id, "above": ids.above, "below": ids.below, "limit": limit,
    }  # fmt: skip
    return _read(owner_id, sql.format(order=ORDERS[ids.newest_first]), params)


def stored_kinds(kinds: Iterable[int]) -> list[int]:
    """The numbers of rows of these kinds: for REACTION those of the declared ones, which this
    process knows within IN_PROCESS_S. Cost: as `list_known_reactions`."""
    return [
        number
        for kind in kinds
        for number in (
            [int(each.kind) for each in list_known_reactions()]
            if kind == NotificationKind.REACTION
            else [int(kind)]
        )
    ]


def read_rows_to_push(owner_id: int, ids: Sequence[int]) -> ReadRows:
    """Those of the rows whose messages are to be sent, and that the list still has. One query."""
    params = {"owner": owner_id, "ids": list(ids), "above": 0, "below": MAX_ID}
    return _read(owner_id, TO_PUSH, params)


def with_undone(owner_id: int, read: ReadRows) -> ReadRows:
    """The rows, with the ids of reposts and reactions that were taken back, perhaps before the
    drain knows. One query, if there are such kinds."""
    wanted = {
        row.id: (row.post_moment, int(RESPONSE_OF[NotificationKind(row.kind)]), row.from_id)
        for row in read.rows
        if row.kind in RESPONSE_OF
    }
    live = find_live_responses(owner_id, set(wanted.values()))
    return read._replace(
        undone=frozenset(i for i, response in wanted.items() if response not in live)
    )


def _read(owner_id: int, sql: str, params: Mapping[str, object]) -> ReadRows:
    raw_rows = fetch_all(shard_of(owner_id), sql, params)
    rows = [NotificationRow(*row[:6]) for row in raw_rows]
    permitted = frozenset(row[2] for row in raw_rows if row[6])
    policy = Policy(*map(Measure, raw_rows[0][7:])) if raw_rows else Policy()
    return ReadRows(rows, policy, permitted)


Threads = Mapping[PostId, PostId]


def without_muted(occurrences: Sequence[Occurrence], threads: Threads) -> Iterator[Occurrence]:
    """Those that may notify. What was undone stays, because it ends a notification.

    `threads`: the first posts of the threads, by post. The threads of favourited and reposted posts
    are on the shard of the recipient. Cost: two queries by key on each shard of the recipients.
    """
    asked: dict[Occurrence, AccountAndThread] = {}
    own: dict[Occurrence, PostId] = {}
    for occurrence in occurrences:
        post_id = PostId.at(occurrence.post_author, occurrence.post_moment)
        if occurrence.is_on and occurrence.kind in RESPONSE_OF:
            own[occurrence] = post_id
        elif occurrence.is_on and post_id in threads:
            asked[occurrence] = occurrence.owner_id, threads[post_id]
    muted = find_muted_threads(set(asked.values())) if asked else set()
    mutes = load_mutes_of_own(set(own.values())) if own else {}
    silent = {i for i, mute in mutes.items() if mute.is_on}
    return (
        occurrence
        for occurrence in occurrences
        if asked.get(occurrence) not in muted and own.get(occurrence) not in silent
    )
