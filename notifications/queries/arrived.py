"""The notifications that arrived since a client heard of the last one."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from notifications.queries.rows import IdRange, read_rows, stored_kinds, with_undone
from notifications.queries.viewed_notifications import ViewedNotification, view_notifications
from notifications.types import ONLY_SHOWN, Selection

# At a time.
MOST_ARRIVED = 40
# Index-only: the newest row of each kind.
FIND = """
SELECT DISTINCT asked.owner_id
FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[]) AS asked (owner_id, kind, above)
WHERE EXISTS (
    SELECT FROM notifications_notification AS row
    WHERE row.owner_id = asked.owner_id AND row.kind = asked.kind AND row.id > asked.above
        AND is_on AND NOT is_dismissed
)
"""
Asked = tuple[int, int, int]


class ArrivedPage(NamedTuple):
    """`shown`: oldest first, those that the owner's lists show. `last_id`: of the last row.

    `heard_id`: below the first row of what was taken back a moment ago, whose end is not delivered:
    it may come back under the same id. `has_more`: there may be later ones.
    """

    shown: Sequence[ViewedNotification]
    last_id: int
    heard_id: int
    has_more: bool


def find_arrived(asked: Iterable[Asked]) -> set[int]:
    """The owners who have a notification of one of these kinds above an id.

    `asked`: owner, kind and id. Cost: one query for each shard of the owners.
    """
    by_owner: dict[int, list[Asked]] = {}
    for owner, kind, above in asked:
        wanted = by_owner.setdefault(owner, [])
        wanted += ((owner, number, above) for number in stored_kinds((kind,)))
    calls = {
        alias: partial(_find, alias, [each for owner in owners for each in by_owner[owner]])
        for alias, owners in group_by_shard(list(by_owner)).items()
    }
    return {owner for owners in scatter(calls).values() for owner in owners}


def _find(alias: str, asked: Sequence[Asked]) -> list[int]:
    columns = [list(column) for column in zip(*asked, strict=True)]
    return [owner for (owner,) in fetch_all(alias, FIND, columns)]


def iter_arrived(owner_id: int, above: int, now_ms: int) -> Iterator[ArrivedPage]:
    """All above an id, oldest first. Each page costs two queries and a round trip."""
    has_more = True
    while has_more:
        page = _load_page(owner_id, above, now_ms)
        yield page
        above, has_more = page.last_id, page.has_more


def _load_page(owner_id: int, above: int, now_ms: int) -> ArrivedPage:
    ids = IdRange(above, newest_first=False)
    read = with_undone(owner_id, read_rows(owner_id, Selection(), ids, MOST_ARRIVED))
    shown = [
        notification
        for notification in view_notifications(owner_id, read, now_ms)
        if notification.verdict in ONLY_SHOWN
    ]
    last_id = read.rows[-1].id if read.rows else above
    heard_id = min((undone - 1 for undone in read.undone), default=last_id)
    return ArrivedPage(shown, last_id, heard_id, len(read.rows) >= MOST_ARRIVED)
