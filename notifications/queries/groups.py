"""Notifications in groups: "ann and 12 others favourited your post"."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from infra.api.pages import Page, Window
from notifications.groups import SAMPLE, GroupKey
from notifications.queries.pages import (
    MOST_BATCHES,
    MOST_BATCHES_OF_A_COUNT,
    ReadList,
    id_range_of,
    page_of,
    read_list,
)
from notifications.queries.rows import IdRange
from notifications.queries.view import ViewedNotification
from notifications.types import NotificationKind, Selection

# A page has at most so many times as many notifications as groups.
ROWS_A_GROUP = 2
# The most notifications of a group that are counted and whose accounts are listed.
MOST_OF_A_GROUP = 800


class ViewedGroup(NamedTuple):
    """A group of visible notifications, newest first, never empty."""

    key: GroupKey
    members: Sequence[ViewedNotification]

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

    As in Mastodon, a group that reaches over the end of a page is on the next page too, with the
    rest of its notifications, and a full page names a next one, which may be empty. Cost: as
    `read_list`.
    """
    ids, limit = id_range_of(window), window.limit
    read = _read(owner_id, selection, grouped, ids, limit, now_ms)
    cut = _cut(read, grouped, limit)
    last_id = cut.last_id
    if last_id is None and len(group(cut.shown, grouped)) == limit:
        last_id = cut.shown[-1].row.id
    page = page_of(ids, cut.shown, last_id)
    return Page(group(page.items, grouped), page.older, page.newer)


def count_groups(
    owner_id: int,
    selection: Selection,
    grouped: Collection[NotificationKind],
    read_up_to: int,
    limit: int,
    now_ms: int,
) -> int:
    """How many groups have notifications newer than the last one that was read; at most `limit`.

    It looks at as few rows as `count_unread`.
    """
    ids, most = IdRange(above=read_up_to), MOST_BATCHES_OF_A_COUNT
    read = _read(owner_id, selection, grouped, ids, limit, now_ms, most)
    return min(len(group(read.shown, grouped)), limit)


def find_group(owner_id: int, key: GroupKey, now_ms: int) -> ViewedGroup | None:
    """One group with all its notifications, up to MOST_OF_A_GROUP; None if none is visible."""
    selection, grouped = Selection([key.kind]), () if key.is_single else (key.kind,)

    def of_key(shown: Sequence[ViewedNotification]) -> list[ViewedNotification]:
        return [one for one in shown if GroupKey.of(one.row, grouped) == key]

    read = read_list(owner_id, selection, key.ids, MOST_OF_A_GROUP // 8, lambda _: False, now_ms)
    members = of_key(read.shown)
    return ViewedGroup(key, members) if members else None


def group(
    shown: Sequence[ViewedNotification], grouped: Collection[NotificationKind]
) -> list[ViewedGroup]:
    """The notifications by group, in the order of the newest of each."""
    groups: dict[GroupKey, list[ViewedNotification]] = {}
    for one in shown:
        groups.setdefault(GroupKey.of(one.row, grouped), []).append(one)
    return [ViewedGroup(key, members) for key, members in groups.items()]


def _read(
    owner_id: int,
    selection: Selection,
    grouped: Collection[NotificationKind],
    ids: IdRange,
    limit: int,
    now_ms: int,
    most_batches: int = MOST_BATCHES,
) -> ReadList:
    def is_enough(shown: Sequence[ViewedNotification]) -> bool:
        return len(group(shown, grouped)) > limit

    size = ROWS_A_GROUP * limit
    return read_list(owner_id, selection, ids, size, is_enough, now_ms, most_batches)


def _cut(read: ReadList, grouped: Collection[NotificationKind], limit: int) -> ReadList:
    """Without the first group that is one too many, and all notifications after it."""
    seen: set[GroupKey] = set()
    for place, one in enumerate(read.shown):
        seen.add(GroupKey.of(one.row, grouped))
        if len(seen) > limit:
            return ReadList(read.shown[:place], read.shown[place - 1].row.id)
    return read
