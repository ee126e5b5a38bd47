"""Which readers are pushed to by one call of a script: those who get the same."""

from collections.abc import Iterator, Mapping, Sequence

from timelines.types import Entry


def batches(
    entries: Mapping[int, Sequence[Entry]], size: int
) -> Iterator[tuple[list[int], Sequence[Entry]]]:
    """At most `size` readers, and the entries that all of them get, for each reader once.

    One post for thousands is the same object for all of them: it is packed and sent once a batch.
    """
    groups: dict[int, tuple[list[int], Sequence[Entry]]] = {}
    for reader_id, added in entries.items():
        groups.setdefault(id(added), ([], added))[0].append(reader_id)
    for readers, added in groups.values():
        for start in range(0, len(readers), size):
            yield readers[start : start + size], added
