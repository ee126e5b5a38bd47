"""Repairs one reader's home timeline. rebuild timelines does the same for all readers."""

from timelines.actions.repair_timeline import describe_repair, repair_timeline
from timelines.queries.difference import find_difference
from timelines.stores.factory import timeline_store

NOT_LIVE = "Nothing is stored. The reader's next page builds the timeline."
CHANGING = "The timeline is changing now. Try again in a second."
RIGHT = "Nothing to repair: the timeline agrees with the posts."


def repair_home(reader_id: int) -> list[str]:
    """Adds missing entries and removes dead ones. Returns a line per entry, or why it did nothing.

    Safety: writes may go on at the same time. Raises: the errors in UNREACHABLE.
    Cost: as `find_difference` and `repair_timeline`.
    """
    stored = timeline_store().peek([reader_id]).get(reader_id)
    if stored is None:
        return [NOT_LIVE]
    difference = find_difference(reader_id, stored)
    if difference is None:
        return [CHANGING]
    if not difference:
        return [RIGHT]
    repair_timeline(reader_id, difference)
    return describe_repair(reader_id, difference)
