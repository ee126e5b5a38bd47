"""The hot authors that a reader follows, found without the whole following list."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.caching.process_memory import most_entries
from infra.caching.viewer_validators import ViewerCopies
from relations.queries.relationships import load_relationships
from timelines.hot.directory import HotAuthors

AUTHORS_AT_ONCE = 1_000
MOST_READERS = most_entries("timelines.hot", share=0.01, bytes_each=150)


class HotFollowees(NamedTuple):
    """`hot`: the validator of the set of hot authors that they were found in."""

    hot: bytes
    ids: Sequence[int]


_cached: ViewerCopies[HotFollowees] = ViewerCopies("timelines.hot", MOST_READERS)


def guess_hot_followees(reader_id: int) -> Sequence[int]:
    """The hot followees of the reader's last page, perhaps outdated. No round trip.

    For a trip that reads their entries before it is known whether they are still the hot followees.
    """
    cached = _cached.peek(reader_id)
    return cached.ids if cached else ()


def list_hot_followees(reader_id: int, hot: HotAuthors, validator: bytes | None) -> Sequence[int]:
    """The hot authors among the reader's followees. `validator`: of the reader's relationships.

    Cost: none while the set and the relationships are unchanged; else one round trip per 1,000 hot
    authors.
    """
    if not hot.ids:
        return ()
    cached = _cached.find(reader_id, validator)
    if cached is not None and cached.hot == hot.validator:
        return cached.ids
    followed = _load_followed(reader_id, [author for author in hot.ids if author != reader_id])
    if hot.validator is not None:
        _cached.keep(reader_id, validator, HotFollowees(hot.validator, followed))
    return followed


def _load_followed(reader_id: int, authors: Sequence[int]) -> list[int]:
    parts = (authors[n : n + AUTHORS_AT_ONCE] for n in range(0, len(authors), AUTHORS_AT_ONCE))
    relationships = (load_relationships(reader_id, part) for part in parts)
    return [
        author
        for part in relationships
        for author, relationship in part.items()
        if relationship.is_followed
    ]
