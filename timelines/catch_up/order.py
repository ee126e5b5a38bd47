"""The order of a catch-up. Pure: plain values in, plain values out."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from timelines.types import Entry, Place

# A post that so many followees reposted is on top.
TOGETHER = 2


def order_places(reader_id: int, places: Sequence[Place]) -> tuple[list[Entry], list[Entry]]:
    """The entries on top, and the others in groups by author.

    On top: what most followees reposted first. Groups: of few entries first, then the one with the
    newest entry; in a group newest first.
    """
    reposters = {place.entry: _count_reposters(reader_id, place) for place in places}
    together = [entry for entry, count in reposters.items() if count >= TOGETHER]
    together.sort(key=lambda entry: (reposters[entry], entry), reverse=True)
    others = sorted(reposters.keys() - set(together), reverse=True)
    return together, [entry for group in _groups(others) for entry in group]


def split_groups(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The groups of entries in their order: neighbours of one author."""
    return [list(group) for _, group in groupby(entries, _author_of)]


def _groups(newest_first: Iterable[Entry]) -> list[list[Entry]]:
    by_author: dict[int, list[Entry]] = {}
    for entry in newest_first:
        by_author.setdefault(_author_of(entry), []).append(entry)
    # The sort is stable: of groups of one size the one with the newest entry is first.
    return sorted(by_author.values(), key=len)


def _count_reposters(reader_id: int, place: Place) -> int:
    reposters = {by.author_id for by, original in place.visible if by != original}
    return len(reposters - {reader_id})


def _author_of(entry: Entry) -> int:
    return entry.event.author_id
