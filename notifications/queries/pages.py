"""Pages of notifications, and how many are unread."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from infra.api.pages import Page, Window
from infra.caching.questions import Question, answer
from notifications.cache import load_rows
from notifications.ids import MAX_ID, kinds_of
from notifications.queries.rows import IdRange
from notifications.queries.viewed_notifications import ViewedNotification, view_notifications
from notifications.types import Selection
from timelines.markers.cache import ask_markers
from timelines.markers.types import MarkerState, Timeline

# A list is at most so many reads. An owner who muted very many accounts gets a short page.
MOST_BATCHES = 8
# A count is asked for every few seconds, also by who may see none of very many rows.
MOST_BATCHES_OF_A_COUNT = 2
# The least number of rows of each read but the first.
NEXT_BATCH = 100
IsEnough = Callable[[Sequence[ViewedNotification]], bool]


class ExaminedRange(NamedTuple):
    """The visible notifications of a range. `last_id`: of the last row that was examined; None if
    the range has no more rows."""

    shown: list[ViewedNotification]
    last_id: int | None


def read_until_enough(
    owner_id: int,
    selection: Selection,
    ids: IdRange,
    size: int,
    is_enough: IsEnough,
    now_ms: int,
    most_batches: int = MOST_BATCHES,
) -> ExaminedRange:
    """Reads the range until there is enough, `size` rows at first.

    Cost: `load_rows` and `view`; up to `most_batches` times if notifications are left out.
    """
    shown: list[ViewedNotification] = []
    for _ in range(most_batches):
        read = load_rows(owner_id, selection, ids, size)
        shown += [
            notification
            for notification in view_notifications(owner_id, read, now_ms)
            if notification.verdict in selection.verdicts
        ]
        if len(read.rows) < size:
            return ExaminedRange(shown, None)
        ids = ids.after(read.rows[-1].id)
        if is_enough(shown):
            break
        size = max(size, NEXT_BATCH)
    return ExaminedRange(shown, read.rows[-1].id)


def list_notifications(
    owner_id: int, selection: Selection, window: Window, now_ms: int
) -> Page[ViewedNotification]:
    """A page of the owner's notifications, newest first.

    Cost: as `read_until_enough`.
    """
    limit = window.limit
    ids = id_range_of(window)
    read = read_until_enough(
        owner_id, selection, ids, limit + 1, lambda shown: len(shown) > limit, now_ms
    )
    page, has_more = read.shown[:limit], len(read.shown) > limit
    return page_of_notifications(ids, page, page[-1].row.id if page and has_more else read.last_id)


def find_notification(
    owner_id: int, notification_id: int, now_ms: int
) -> ViewedNotification | None:
    """One notification, if the owner may see or accept it. Cost: `load_rows`, and `view`."""
    kinds = kinds_of(notification_id)
    if not kinds:
        return None
    ids = IdRange(notification_id - 1, notification_id + 1)
    notifications = view_notifications(
        owner_id, load_rows(owner_id, Selection(kinds), ids, 1), now_ms
    )
    return notifications[0] if notifications else None


def page_of_notifications(
    ids: IdRange, shown: Sequence[ViewedNotification], last_id: int | None
) -> Page[ViewedNotification]:
    """The page of these notifications, in the order of the query. `last_id`: where to go on."""
    if ids.newest_first:
        newer = shown[0].row.id if shown else None
        return Page(shown, _cursor(last_id), _cursor(newer))
    ends = (shown[0].row.id, last_id or shown[-1].row.id) if shown else (None, last_id)
    return Page(shown[::-1], *map(_cursor, ends))


def count_unread_notifications(owner_id: int, selection: Selection, limit: int, now_ms: int) -> int:
    """How many visible notifications are above the owner's marker, at most `limit`.

    It looks at the newest rows only, MOST_BATCHES_OF_A_COUNT reads. Cost: as `read_until_enough`,
    and one more round trip.
    """
    ids, most = answer(ask_unread_range(owner_id)), MOST_BATCHES_OF_A_COUNT
    read = read_until_enough(
        owner_id, selection, ids, limit, lambda s: len(s) >= limit, now_ms, most
    )
    return min(len(read.shown), limit)


def ask_unread_range(owner_id: int) -> Question[IdRange]:
    """The ids above the owner's marker. Rows in Redis are those of a marker, so that one which
    moves has others. Cost: as `ask_markers`."""

    def above(markers: Mapping[Timeline, MarkerState]) -> IdRange:
        marker = markers.get(Timeline.NOTIFICATIONS)
        return IdRange(min(int(marker.last_read_id), MAX_ID) if marker else 0)

    return ask_markers(owner_id).then(above)


def id_range_of(window: Window) -> IdRange:
    """The ids that a window asks for. With `min_id` the oldest come first."""
    lower = window.min_id or window.since_id
    below = min(int(window.max_id), MAX_ID) if window.max_id else MAX_ID
    return IdRange(min(int(lower), MAX_ID) if lower else 0, below, window.min_id is None)


def _cursor(notification_id: int | None) -> str | None:
    return None if notification_id is None else str(notification_id)
