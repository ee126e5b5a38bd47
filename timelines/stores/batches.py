"""Which readers are pushed to by one call of a script: those who get the same."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from timelines.types import Entry


def batches(
    entries: Mapping[int, Sequence[Entry]], size: int
) -> Iterator[tuple[list[int], Sequence[Entry]]]:
    """At most `size` readers, and the entries that all of them get, for each reader once.

    One post for thousands is the same object for all of them: it is packed and sent once a batch.
    """
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for reader_id, added in entries.items():
        groups[id(added)].append(reader_id)
    for readers in groups.values():
        added = entries[readers[0]]
        for start in range(0, len(readers), size):
            yield readers[start : start + size], added
