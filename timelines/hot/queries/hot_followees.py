"""Which hot authors a reader follows, without reading the reader's whole following list."""

from collections.abc import Sequence
from typing import NamedTuple

from cachebox import LRUCache

from relations.queries.relationships import load_relationships
from timelines.hot.directory import HotAuthors

MOST_AT_ONCE = 1_000
CACHED_READERS = 20_000


class HotFollowees(NamedTuple):
    """`stamps`: of the hot authors and of the reader's relationships, under which it holds."""

    stamps: tuple[bytes | None, bytes | None]
    ids: Sequence[int]


_known: LRUCache[int, HotFollowees] = LRUCache(CACHED_READERS)


def guess_hot_followees(reader_id: int) -> Sequence[int]:
    """As they were last; to read ahead by. No round trip."""
    known = _known.get(reader_id)
    return known.ids if known else ()


def find_hot_followees(reader_id: int, hot: HotAuthors, stamp: bytes | None) -> Sequence[int]:
    """As they are. `stamp`: of the reader's relationships.

    Cost: none while neither stamp has changed; else one round trip for each 1,000 hot authors.
    """
    if not hot.ids:
        return ()
    stamps, known = (hot.stamp, stamp), _known.get(reader_id)
    if known is not None and known.stamps == stamps and None not in stamps:
        return known.ids
    found = _find(reader_id, [author for author in hot.ids if author != reader_id])
    _known[reader_id] = HotFollowees(stamps, found)
    return found


def _find(reader_id: int, authors: Sequence[int]) -> list[int]:
    parts = (authors[n : n + MOST_AT_ONCE] for n in range(0, len(authors), MOST_AT_ONCE))
    relationships = (load_relationships(reader_id, part) for part in parts)
    return [author for part in relationships for author, one in part.items() if one.is_followed]
