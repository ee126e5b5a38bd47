"""Which readers are pushed to by one call of a script: those who get the same."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from timelines.types import Entry


def group_readers(
    entries: Mapping[int, Sequence[Entry]], size: int
) -> Iterator[tuple[list[int], Sequence[Entry]]]:
    """At most `size` readers, and the entries that all of them get, for each reader once.

    One post for thousands is the same object for all of them: it is packed and sent once a batch.
    """
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for reader_id, added in entries.items():
        readers = groups[id(added)]
        readers.append(reader_id)
        if len(readers) == size:
            yield groups.pop(id(added)), added
    for readers in groups.values():
        yield readers, entries[readers[0]]
