"""One person's home timeline made right, as rebuild_timelines does it for all."""

from timelines.actions.repair_timeline import describe_repair, repair_timeline
from timelines.queries.difference import find_difference
from timelines.stores.factory import timeline_store

NOT_LIVE = "Nothing is stored: their next page builds it."
CHANGING = "It is changing right now: look again in a second."
RIGHT = "Nothing to mend: it is what the posts say."


def repair_home(reader_id: int) -> list[str]:
    """Adds what is missing and takes out what is dead; a line an entry, or why nothing was done.

    Safety: right beside living writes. Raises: what UNREACHABLE lists. Cost: as `find_difference`
    and `mend`.
    """
    seen = timeline_store().peek([reader_id]).get(reader_id)
    if seen is None:
        return [NOT_LIVE]
    found = find_difference(reader_id, seen)
    if found is None:
        return [CHANGING]
    if not found:
        return [RIGHT]
    repair_timeline(reader_id, found)
    return describe_repair(reader_id, found)
