"""Cuts live timelines by age, when they are read. Pushes cut them by TIMELINE_ENTRIES."""

import structlog
from django.conf import settings
from redis.exceptions import RedisError

from infra.changes.errors import UNREACHABLE
from posts.ids import EPOCH
from timelines.stores.factory import timeline_store
from timelines.stores.interface import FollowingChange
from timelines.types import Entry, LiveTimeline

DAY_S = 86_400
# A timeline is cut when its low-water mark is this part of TIMELINE_DAYS too old, so that one
# reader's timeline is not written again for each entry.
CUT_STEPS = 8
# Of the following list. No step was missed.
NO_STEP = 0
log = structlog.get_logger()


def first_kept_second(now_ms: int) -> int:
    """The second from which on live timelines keep entries; 0: entries of any age."""
    if not settings.TIMELINE_DAYS:
        return 0
    return max(0, now_ms // 1000 - EPOCH - settings.TIMELINE_DAYS * DAY_S)


def cut_old_entries(reader_id: int, seen: LiveTimeline, now_ms: int) -> None:
    """Removes entries older than TIMELINE_DAYS, if the timeline is due for a cut.

    Raises the low-water mark first, so that readers pull what is removed then. A timeline that
    changed in between keeps its entries below the mark until the next cut: no page reads them.
    Raises nothing: the page has its entries. Cost: none unless due; else two round trips.
    """
    kept_from = first_kept_second(now_ms)
    if seen.complete_from >= kept_from - settings.TIMELINE_DAYS * DAY_S // CUT_STEPS:
        return
    old = [entry for entry in Entry.split(seen.data) if entry.event.second < kept_from]
    raised = seen._replace(complete_from=kept_from)
    step = FollowingChange(NO_STEP, NO_STEP, complete_from=kept_from)
    try:
        timeline_store().change_following(reader_id, step)
        timeline_store().remove(reader_id, raised, old)
    except (RedisError, *UNREACHABLE) as error:
        log.warning("timeline.old_entries_not_cut", reader=reader_id, error=str(error))
