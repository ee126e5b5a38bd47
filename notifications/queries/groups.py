"""Notifications in groups: "ann and 12 others favourited your post"."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from infra.api.pages import Page, Window
from notifications.groups import SAMPLE, GroupKey
from notifications.queries.pages import (
    MOST_BATCHES,
    MOST_BATCHES_OF_A_COUNT,
    ExaminedRange,
    id_range_of,
    page_of_notifications,
    read_until_enough,
)
from notifications.queries.rows import IdRange
from notifications.queries.viewed_notifications import ViewedNotification
from notifications.types import NotificationKind, Selection

# A page has at most so many times as many notifications as groups.
ROWS_A_GROUP = 2
# The most notifications of a group that are counted and whose accounts are listed.
MOST_OF_A_GROUP = 800


class ViewedGroup(NamedTuple):
    """A group of visible notifications, newest first, never empty. `paged`: those on the page."""

    key: GroupKey
    members: Sequence[ViewedNotification]
    paged: Sequence[ViewedNotification]

    @property
    def newest(self) -> ViewedNotification:
        return self.members[0]

    @property
    def sample(self) -> Sequence[ViewedNotification]:
        return self.members[:SAMPLE]


def list_groups(
    owner_id: int,
    selection: Selection,
    grouped: Collection[NotificationKind],
    window: Window,
    now_ms: int,
) -> Page[ViewedGroup]:
    """A page of groups, the group with the newest notification first.

    As in Mastodon, a group that reaches over the end of a page is on the next page too, and a full
    page names a next one, which may be empty. On both pages the group has all its notifications, up
    to MOST_OF_A_GROUP. Cost: as `read_until_enough`, once more for each end of the page in such a
    group.
    """
    ids, limit = id_range_of(window), window.limit
    read = _read(owner_id, selection, grouped, ids, limit, now_ms)
    cut = _cut(read, grouped, limit)
    last_id = cut.last_id
    if last_id is None and len(group(cut.shown, grouped)) == limit:
        last_id = cut.shown[-1].row.id
    page = page_of_notifications(ids, cut.shown, last_id)
    groups = group(page.items, grouped)
    ends = bool(window.max_id or window.min_id), page.older is not None
    further = [
        notification
        for keys, beyond in _list_beyond(groups, *ends)
        for notification in _read_beyond(owner_id, selection, keys, beyond, now_ms)
    ]
    return Page(_with_rest(groups, group(further, grouped)), page.older, page.newer)


def _list_beyond(
    groups: Sequence[ViewedGroup], has_above: bool, has_below: bool
) -> Iterator[tuple[list[GroupKey], IdRange]]:
    """The groups that may go on beyond an end of the page, and in which ids."""
    keys = [group.key for group in groups if not group.key.is_single]
    ids = [member.row.id for group in groups for member in group.paged]
    above = [key for key in keys if has_above and key.ids.above < max(ids) < key.ids.below]
    below = [key for key in keys if has_below and key.ids.above < min(ids) < key.ids.below]
    if above:
        yield above, IdRange(max(ids), above[0].ids.below)
    if below:
        yield below, IdRange(below[0].ids.above, min(ids))


def _read_beyond(
    owner_id: int, selection: Selection, keys: Sequence[GroupKey], ids: IdRange, now_ms: int
) -> list[ViewedNotification]:
    wanted = selection._replace(kinds=list({key.kind for key in keys}))
    size = MOST_OF_A_GROUP // MOST_BATCHES
    return read_until_enough(owner_id, wanted, ids, size, lambda _: False, now_ms).shown


def _with_rest(groups: Sequence[ViewedGroup], further: Sequence[ViewedGroup]) -> list[ViewedGroup]:
    """The groups of a page with those of their notifications that are on other pages."""
    beyond = {group.key: group.members for group in further}
    return [
        group._replace(
            members=sorted([*group.members, *beyond.get(group.key, ())], key=_newest_first)
        )
        for group in groups
    ]


def _newest_first(notification: ViewedNotification) -> int:
    return -notification.row.id


def count_groups(
    owner_id: int,
    selection: Selection,
    grouped: Collection[NotificationKind],
    ids: IdRange,
    limit: int,
    now_ms: int,
) -> int:
    """How many groups have notifications in this range, that above the marker; at most `limit`.

    It looks at as few rows as `count_unread_notifications`.
    """
    most = MOST_BATCHES_OF_A_COUNT
    read = _read(owner_id, selection, grouped, ids, limit, now_ms, most)
    return min(len(group(read.shown, grouped)), limit)


def find_group(owner_id: int, key: GroupKey, now_ms: int) -> ViewedGroup | None:
    """One group with all its notifications, up to MOST_OF_A_GROUP; None if none is visible."""
    selection, grouped = Selection(key.kinds), () if key.is_single else (key.kind.type,)

    def of_key(shown: Sequence[ViewedNotification]) -> list[ViewedNotification]:
        return [
            notification for notification in shown if GroupKey.of(notification.row, grouped) == key
        ]

    read = read_until_enough(
        owner_id, selection, key.ids, MOST_OF_A_GROUP // MOST_BATCHES, lambda _: False, now_ms
    )
    members = of_key(read.shown)
    return ViewedGroup(key, members, members) if members else None


def group(
    shown: Sequence[ViewedNotification], grouped: Collection[NotificationKind]
) -> list[ViewedGroup]:
    """The notifications by group, in the order of the newest of each."""
    groups: dict[GroupKey, list[ViewedNotification]] = {}
    for notification in shown:
        groups.setdefault(GroupKey.of(notification.row, grouped), []).append(notification)
    return [ViewedGroup(key, members, members) for key, members in groups.items()]


def _read(
    owner_id: int,
    selection: Selection,
    grouped: Collection[NotificationKind],
    ids: IdRange,
    limit: int,
    now_ms: int,
    most_batches: int = MOST_BATCHES,
) -> ExaminedRange:
    def is_enough(shown: Sequence[ViewedNotification]) -> bool:
        return len(group(shown, grouped)) > limit

    size = ROWS_A_GROUP * limit
    return read_until_enough(owner_id, selection, ids, size, is_enough, now_ms, most_batches)


def _cut(read: ExaminedRange, grouped: Collection[NotificationKind], limit: int) -> ExaminedRange:
    """Without the first group that is one too many, and all notifications after it."""
    seen: set[GroupKey] = set()
    for place, notification in enumerate(read.shown):
        seen.add(GroupKey.of(notification.row, grouped))
        if len(seen) > limit:
            return ExaminedRange(read.shown[:place], read.shown[place - 1].row.id)
    return read
