"""One author's newest entries, from the posts table."""

from posts.ids import SEQUENCES
from posts.queries.rows import PAST_ALL, list_timeline
from timelines.types import Entry


def list_newest_entries(author_id: int, complete_from: int, most: int) -> tuple[list[Entry], int]:
    """Down to a mark, newest first, and the mark they allow when there are more than so many.

    One query on the author's shard.
    """
    lower = complete_from * SEQUENCES
    pairs = list_timeline(author_id, lower, PAST_ALL, most + 1, newest_first=True)
    entries = [Entry(*pair) for pair in pairs]
    if len(entries) > most:
        complete_from = entries[-1].event.second + 1
    return [e for e in entries if e.event.second >= complete_from], complete_from
