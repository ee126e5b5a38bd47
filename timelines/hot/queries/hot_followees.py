"""The hot authors that a reader follows, found without the whole following list."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.caching.process_memory import most_entries
from infra.caching.questions import RoundTrip, answer
from infra.caching.viewer_validators import ValidatorsQuestion, ViewerCopies
from relations.queries.relationships import ask_relationships
from timelines.hot.directory import HotAuthors, ask_hot_authors

AUTHORS_AT_ONCE = 1_000
MOST_READERS = most_entries("timelines.hot", share=0.02, bytes_each=150)


class KnownFollowees(NamedTuple):
    """`hot`: the validator of the set of hot authors that they were found in."""

    hot: bytes
    ids: Sequence[int]


_known: ViewerCopies[KnownFollowees] = ViewerCopies(MOST_READERS)


class HotFolloweesQuestion:
    """The reader's hot followees, in a round trip. After it, `load`.

    `guess`: those of the reader's last page, perhaps outdated: their entries can be asked in the
    same trip.
    """

    def __init__(self, trip: RoundTrip, reader_id: int) -> None:
        self._reader_id, known = reader_id, _known.peek(reader_id)
        self._hot = trip.ask(ask_hot_authors())
        # Without a copy there is nothing that a validator could confirm.
        self._validators = trip.ask(ValidatorsQuestion(reader_id)) if known else None
        self.guess: Sequence[int] = known.ids if known else ()

    def load(self) -> Sequence[int]:
        """Cost: none while the set and the relationships are unchanged; else one round trip per
        1,000 hot authors."""
        hot = self._hot.value
        if not hot.ids:
            return ()
        if self._validators is not None:
            known = _known.find(self._reader_id, self._validators.value.relationships)
            if known is not None and known.hot == hot.validator:
                return known.ids
        return _load(self._reader_id, hot)


def _load(reader_id: int, hot: HotAuthors) -> list[int]:
    authors, followed = [author for author in hot.ids if author != reader_id], list[int]()
    validators = set[bytes | None]()
    for start in range(0, len(authors), AUTHORS_AT_ONCE):
        some = answer(ask_relationships(reader_id, authors[start : start + AUTHORS_AT_ONCE]))
        validators.add(some.validator)
        followed += [i for i, related in some.by_account.items() if related.is_followed]
    if hot.validator is not None and len(validators) == 1:
        _known.keep(reader_id, validators.pop(), KnownFollowees(hot.validator, followed))
    return followed
