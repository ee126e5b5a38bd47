"""Full live timelines to push to.

Their lengths are spread over the range between two trims. So every push trims some of them, and
their average size is that of one timeline over a long time.
"""

from posts.ids import PostId
from timelines.stores.interface import TimelineStore
from timelines.types import Entry, LiveTimeline

TIMELINES = 2_000
ENTRIES = 450
# More than the pushes between two trims.
PHASES = 57
FIRST_READER = 1_000_000_000
READERS = range(FIRST_READER, FIRST_READER + TIMELINES)


def fill(store: TimelineStore, readers: range) -> None:
    data = [Entry.of_post(PostId(second, 7, 0)).packed for second in range(ENTRIES + PHASES)]
    for reader in readers:
        store.drop(reader)  # a new build starts with the same length for all
        store.begin_build(reader, reader)
        held = data[: ENTRIES + reader % PHASES]
        store.finish_build(reader, reader, LiveTimeline.of(held, 0, 1))


def push(store: TimelineStore, readers: range, entry: Entry) -> None:
    store.push(dict.fromkeys(readers, (entry,)))
